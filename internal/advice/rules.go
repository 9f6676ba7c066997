package advice

import "slices"

// Rules is all diagnostics.
var Rules = slices.Concat(sliceRules, mapRules, listRules, searchRules, shiftRules, sortRules, mapUseRules, lineRules, scanRules)
