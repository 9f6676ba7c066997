// Package text converts traces to text and back: lossless, line by line, writable by hand. Dump
// converts a trace to text, Assemble text to a trace; Assemble turns Dump's output into the same
// bytes again, whatever the chunks hold. So a broken trace is a page that can be read, changed and
// kept with a test.
//
// # Lines
//
// A line is words separated by blanks. Blank lines are ignored, and so is the text behind a # at
// the beginning of a word. Most words are key=value; a text value is quoted as in Go. Numbers are
// as in Go too (0x10, 1_000). A word that is left out has the value given here in brackets.
//
//	header [major=1 minor=3 chunk=4096 page=4096 pid=1 clock=tsc path=assembly
//	       backing=disk witness=0 id=0… start=1000 mono=0 wall=0
//	       rate=1000000000 limit=0 ring=0] [crc=N]
//	state  [closed=0 tick=0 end=<the bytes assembled> lost=0 overwritten=0 until=0
//	       joined=0]
//
// The header comes first. Both fill chunk 0; every line of the next list begins another chunk.
//
//	chunk records [owner=0 path=<the header's> since=<start> gen=1 flags=none
//	       sealed=0 index=<its place> number=0 final=0]
//	chunk blocks  [the same]
//	unborn [1]     so many chunks that were not handed out
//	bytes          a chunk without a header, to be filled with raw
//
// flags are none or a list of ends,final,kept or a number. sealed alone means the used length of
// the chunk. In a chunk:
//
//	raw HEX        bytes
//	at N           go on at byte N of the chunk; what was there can be overwritten
//	hole [1]       so many places of 32 bytes that are zero
//	truncate N     (at the end) the file has N bytes
//
// # Records
//
//	KIND [NAME] [@LABEL] [g=0] [start=0] … [noext] [| SLOT…]
//	ext SLOT…      an extension without a record
//
// KIND is a name of format.Specs or kind-N. NAME is a quoted name, which a name line somewhere
// defines, or #N, its id. A label stands for the record's loc: its offset in the file, or the
// equivalent in a ring. The other words:
//
//	scopes    stop=N cpu=N/QUALITY   or, open:   open tid=0 sched=0 seq=0 [apart], or open=go [apart]
//	counter   value=int:N  value=uint:N  value=float:X
//	go        created=N creator=N
//	anchor    thread=N cpu=N
//	end       begin=N cpu=N/QUALITY
//	any       w1=N w3=N   the two words as they are
//
// QUALITY is unknown, exact, likely or most. noext sets the bit that announces an extension without
// one following. Slots are
//
//	int:N uint:N float:X bool:true duration:N loc:N loc:@LABEL goid:N user:N
//	system:N addr:N cut:N key:"name" key:#N string:"…" type:"…" slot14:N
//	begin:KIND/NAME/GOID[/ext]   or begin:N
//
// and a string that was cut is string:"…"/N, where N is its length before, in bytes. A float is
// given as float:bits:N if decimal text would change a bit of it. ext raw:HEX and | raw:HEX are
// whole extensions as they are.
//
// # Blocks
//
//	name ID "…"
//	calib ticks=N mono=N wall=N bracket=N
//	beat ticks=N FIELD=N …           FIELD is a name of format.Fields or field-N
//	thread ticks=N ID:CPU:WAIT …
//	info "key" "value"
//	gap from=N to=N count=N reason=REASON
//	stop ticks=N
//	break before=N after=N
//	note ticks=N "…"
//	frame ID "function" "file" line=N start=N [inlined]
//	stack ID [cut] FRAME …           FRAME is a frame's ID
//	count ticks=N NAME:STACK:CALLS:WEIGHT …   NAME and STACK are IDs
//	carry ticks=N loc=N [thread=0 owner=0] KIND …   a record as above, without a label
//	gotrace [stream=1] [part=0] HEX
//	switch thread=N base=N until=N [first] [lost] [on] in:NS out:NS preempt:NS …
//	lock KIND [#0] ticks=N addr=N [acquired=-1 contended=0 short=0 short_ns=0]   KIND is lock, mutex, rwmutex, retry
//	block TYPE HEX                   any other
//
// each with [crc=N] or [crc=bad].
package text
