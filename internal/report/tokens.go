package report

// How many characters a token of a language model has at least, of such text: English words have more, and
// numbers are cut into groups of three.
const (
	lettersOfToken = 4
	digitsOfToken  = 3
)

// Tokens is how many tokens a language model makes of a text, or fewer: a letter's run by four, a
// number's by three, a space before a word is part of it, and each other character, or byte of one that
// is not ASCII, is a token. Tokenizers that are in use (cl100k, o200k) make a tenth less at least of all
// pages that the tests have.
func Tokens(text string) (n int) {
	letters, digits, spaces := 0, 0, 0
	end := func() {
		n += (letters+lettersOfToken-1)/lettersOfToken + (digits+digitsOfToken-1)/digitsOfToken
		if spaces > 1 {
			n++
		}
		letters, digits, spaces = 0, 0, 0
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			if letters == 0 {
				end()
			}
			letters++
		case c >= '0' && c <= '9':
			if digits == 0 {
				end()
			}
			digits++
		case c == ' ':
			if spaces == 0 {
				end()
			}
			spaces++
		default:
			end()
			n++
		}
	}
	end()
	return n
}
