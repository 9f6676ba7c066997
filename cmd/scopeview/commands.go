package main

// groups are the headings of the list of commands, by what one wants to know, in its order.
var groups = []struct{ id, title string }{
	{"record", "Record a program:"},
	{"look", "Look at a trace:"},
	{"why", "Find out why it is slow:"},
	{"where", "Find out where the time goes, down to the line:"},
	{"compiler", "Build with profiles:"},
	{"export", "Use other tools:"},
	{"files", "Keep, combine, check and share trace files:"},
	{"machine", "Measure the machine, and check the toolchain:"},
}

// commands returns the table of commands.
func commands() []command {
	const (
		part    = flagPart
		samples = flagTimes | flagTracks | flagProcesses | flagObjects | flagOutput | flagStrict
		rows    = part | flagWhere | flagObjects | flagStates
		profile = flagOutput | flagStrict
		table   = flagJSON | flagLines
		code    = samples | table
	)
	return []command{
		{name: "run", args: "[FLAGS] [GO-RUN-FLAGS] PACKAGE [ARGUMENT…]", group: "record", flags: flagOpen, raw: true, new: newRun},
		{name: "build", args: "[FLAGS] [GO-BUILD-FLAGS] [PACKAGE…]", group: "record", raw: true, new: newBuild},
		{name: "test", args: "[FLAGS] [GO-TEST-FLAGS] [PACKAGE…]", group: "record", raw: true, new: newTest},
		{name: "record", args: "-- COMMAND [ARGUMENT…]", group: "record", new: newRecord},
		{name: "ctl", args: "TRACE on|off|filter EXPR|snapshot [PATH]", group: "record", new: newCtl},
		{name: "vet", args: "[PACKAGE…]", group: "record", new: newVet},

		{name: "serve", args: "TRACE", group: "look", takes: takesFile, flags: flagProcesses | flagObjects | flagWith | flagMembench | flagOpen, new: newServe},
		{name: "html", args: "TRACE", group: "look", takes: takesTrace, flags: part | flagObjects | flagWith | flagMembench | flagOpen, new: newHTML},
		{name: "info", args: "TRACE", group: "look", takes: takesTrace, flags: flagOutput | flagStrict | flagJSON, new: newInfo},
		{name: "top", args: "TRACE", group: "look", takes: takesTrace, flags: part | flagWhere | table | flagBrief, new: newTop},
		{name: "sql", args: "QUESTION|FILE -d PLACE | TRACE [QUESTION]", group: "look", flags: part | flagObjects | table, raw: true, new: newSQL},
		{name: "tail", args: "TRACE", group: "look", takes: takesFile, flags: flagNames | flagTracks | flagWhere | flagProcesses | flagStrict, new: newTail},
		{name: "stacks", args: "TRACE", group: "look", takes: takesTrace, flags: flagNames | flagOutput | flagStrict | table, new: newStacks},
		{name: "mcp", args: "DIR|FILE…", group: "look", new: newMCP},

		{name: "doctor", args: "TRACE", group: "why", takes: takesTrace, flags: part | flagJSON | flagBrief | flagMembench, new: newDoctor},
		{name: "waits", args: "TRACE", group: "why", takes: takesTrace, flags: part | table, new: newWaits},
		{name: "states", args: "TRACE", group: "why", takes: takesTrace, flags: part | table, new: newStates},
		{name: "compare", args: "TRACE TRACE | TRACE… -- TRACE…", group: "why", takes: takesFile, flags: part | flagObjects | table | flagBrief, new: newCompare},
		{name: "advise", args: "[RAW… [-- PACKAGE [ARGUMENT…]]]", group: "why", flags: flagOutput | flagStrict | flagJSON, new: newAdvise},
		{name: "scale", args: "-- COMMAND [ARGUMENT…]", group: "why", flags: flagOutput | flagJSON, new: newScale},

		{name: "profile", args: "TRACE", group: "where", takes: takesSource, flags: code, new: newProfile},
		{name: "callers", args: "TRACE FUNC", group: "where", takes: takesSource, flags: code, new: newCallers},
		{name: "source", args: "TRACE FUNC|FILE", group: "where", takes: takesSource, flags: code, new: newSource},
		{name: "disasm", args: "TRACE FUNC", group: "where", takes: takesSource, flags: code, new: newDisasm},

		{name: "pgo", group: "compiler"},
		{name: "pgo collect", args: "-- COMMAND [ARGUMENT…] | SOURCE…", flags: profile, new: newPgoCollect},
		{name: "pgo merge", args: "PROFILE…", flags: profile, new: newPgoMerge},
		{name: "pgo show", args: "PROFILE", flags: profile | table, new: newPgoShow},
		{name: "pgo overlap", args: "PROFILE PROFILE", flags: profile | table, new: newPgoOverlap},
		{name: "pgo check", args: "PROFILE [PACKAGE…]", flags: profile | table, new: newPgoCheck},
		{name: "pgo salvage", args: "PROFILE [PACKAGE…]", flags: profile, new: newPgoSalvage},
		{name: "pgo rename", args: "PROFILE OLD=NEW…", flags: profile, new: newPgoRename},
		{name: "pgo shrink", args: "PROFILE", flags: profile, new: newPgoShrink},
		{name: "pgo explain", args: "PROFILE [PACKAGE…]", flags: profile | table, new: newPgoExplain},
		{name: "pgo ab", args: "[PACKAGE] [-- ARGUMENT…]", flags: flagOutput | flagJSON, new: newPgoAB},
		{name: "autofdo", group: "compiler"},
		{name: "autofdo write", args: "PROFILE", flags: profile, new: newAutofdoWrite},
		{name: "autofdo read", args: "TEXT", flags: profile, new: newAutofdoRead},
		{name: "autofdo merge", args: "TEXT…", flags: profile, new: newAutofdoMerge},
		{name: "autofdo show", args: "TEXT", flags: profile | table, new: newAutofdoShow},
		{name: "autofdo overlap", args: "TEXT TEXT", flags: profile | table, new: newAutofdoOverlap},

		{name: "export", group: "export"},
		{name: "export csv", args: "TRACE", takes: takesTrace, flags: part | flagWhere | flagStates, new: newCSV},
		{name: "export chrome", args: "TRACE", takes: takesTrace, flags: rows, new: newChrome},
		{name: "export perfetto", args: "TRACE", takes: takesTrace, flags: rows, new: newPerfetto},
		{name: "export pprof", args: "TRACE", takes: takesSource, flags: samples, new: newPprof},
		{name: "export gotrace", args: "TRACE", takes: takesTrace, flags: flagOutput | flagStrict, new: newGoTrace},
		{name: "export otlp", args: "TRACE", takes: takesTrace, flags: flagNames | flagTracks | flagWhere | flagProcesses | flagOutput | flagStrict, new: newOTLP},
		{name: "export parquet", args: "TRACE… -o PLACE", raw: true, new: newParquet},

		{name: "snapshot", args: "TRACE…", group: "files", flags: flagTimes, new: newSnapshot},
		{name: "pack", args: "TRACE", group: "files", new: newPack},
		{name: "unpack", args: "TRACE", group: "files", new: newUnpack},
		{name: "merge", args: "TRACE…", group: "files", takes: takesFile, flags: flagOutput, new: newMerge},
		{name: "join", args: "TRACE GOTRACE", group: "files", new: newJoin},
		{name: "archive", args: "TRACE…", group: "files", new: newArchive},
		{name: "anonymize", args: "TRACE", group: "files", takes: takesFile, flags: flagOutput, new: newAnonymize},
		{name: "verify", args: "TRACE", group: "files", takes: takesFile, flags: flagOutput | flagJSON, new: newVerify},
		{name: "dump", args: "TRACE", group: "files", takes: takesFile, flags: flagOutput, new: newDump},
		{name: "assemble", args: "[TEXT]", group: "files", flags: flagOutput, new: newAssemble},

		{name: "calibrate", group: "machine", flags: flagJSON, new: newCalibrate},
		{name: "membench", group: "machine", flags: flagOutput | flagJSON, new: newMembench},
		{name: "check-hooks", group: "machine", flags: flagOutput | flagJSON, new: newCheckHooks},

		{name: "toolexec", hidden: true, raw: true, new: newToolexec},
	}
}
