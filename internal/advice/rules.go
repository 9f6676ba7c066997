package advice

import "slices"

// Rules are all diagnostics; those with Rest set come last.
var Rules = slices.Concat(sliceRules, mapRules, listRules, searchRules, shiftRules, sortRules, mapUseRules, threadRules, customRules, stringRules, ioRules, allocationRules, lineRules, scanRules, sectionRules)
