package advice

import "slices"

// Rules is all diagnostics: those that judge the rest are last.
var Rules = slices.Concat(sliceRules, mapRules, listRules, searchRules, shiftRules, sortRules, mapUseRules, threadRules, customRules, stringRules, ioRules, allocationRules, lineRules, scanRules, sectionRules)
