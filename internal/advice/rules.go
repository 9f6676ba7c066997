package advice

import "slices"

// Rules is all diagnostics.
var Rules = slices.Concat(sliceRules, mapRules, customRules)
