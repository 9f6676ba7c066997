package perfetto

// Field numbers of the published schema, protos/perfetto/trace, by message.
const (
	tracePacket = 1

	packetClockSnapshot   = 6
	packetTimestamp       = 8
	packetSequence        = 10
	packetTrackEvent      = 11
	packetInterned        = 12
	packetSequenceFlags   = 13
	packetClock           = 58
	packetDefaults        = 59
	packetTrackDescriptor = 60
	packetPerfSample      = 66
	packetAttributes      = 126

	attributesAttribute  = 1
	attributeKey         = 1
	attributeString      = 3
	snapshotClocks       = 1
	clockID              = 1
	clockTimestamp       = 2
	clockIsIncremental   = 3
	internedCategories   = 1
	internedNames        = 2
	internedAnnotations  = 3
	internedFunctions    = 5
	internedFrames       = 6
	internedStacks       = 7
	internedObjects      = 17 // paths of mappings
	internedSources      = 18
	internedMappings     = 19
	internedID           = 1
	internedName         = 2
	trackUUID            = 1
	trackName            = 2
	trackProcess         = 3
	trackParent          = 5
	trackCounter         = 8
	trackChildOrdering   = 11
	trackRank            = 12
	trackMergeBehavior   = 15
	processPID           = 1
	processName          = 6
	processLabels        = 8
	counterUnit          = 3
	eventCategory        = 3
	eventAnnotations     = 4
	eventType            = 9
	eventName            = 10
	eventTrack           = 11
	eventCounter         = 30
	eventDoubleCounter   = 44
	eventFlows           = 47
	eventTerminatedFlows = 48

	mappingPath   = 7
	frameFunction = 2
	frameMapping  = 3
	framePC       = 4
	frameSource   = 5
	frameLine     = 6
	stackFrame    = 2
	sampleCPU     = 1
	samplePID     = 2
	sampleTID     = 3
	sampleStack   = 4

	annotationName      = 1
	annotationBool      = 2
	annotationUint      = 3
	annotationInt       = 4
	annotationDouble    = 5
	annotationString    = 6
	annotationPointer   = 7
	annotationPlainName = 10
	annotationDict      = 11
)

// Values of the schema's enums.
const (
	stateCleared = 1 // of packetSequenceFlags
	needsState   = 2

	sliceBegin = 1 // of eventType
	sliceEnd   = 2
	instant    = 3
	counter    = 4

	orderExplicit = 3 // of trackChildOrdering
	mergeNone     = 2 // of trackMergeBehavior
	unitCount     = 2 // of counterUnit
	unitBytes     = 3

	clockRealtime = 1
	clockTrace    = 6  // boottime: the default clock of timestamps
	clockDelta    = 64 // the first one that belongs to a sequence
)
