package report

// Lower bounds for the characters of a token of a language model: words have more, and numbers are
// cut into groups of three.
const (
	lettersOfToken = 4
	digitsOfToken  = 3
)

// Tokens estimates the number of tokens of a text for a language model, from above: a run of
// letters has one token per four, a run of digits one per three, a single space belongs to the word
// behind it, and each other character, or byte of one that is not ASCII, is a token. For all pages
// of the tests, common tokenizers (cl100k, o200k) yield at least a tenth less.
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
