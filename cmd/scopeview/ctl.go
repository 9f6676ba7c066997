package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/show"
)

// ctlCommands are the requests of ctl.
var ctlCommands = []struct {
	name    string
	command format.Command
	help    string
	text    string // optional argument; in upper case: required argument
}{
	{"on", format.CommandOn, "record again", ""},
	{"off", format.CommandOff, "record nothing", ""},
	{"filter", format.CommandFilter, "record the names that the filter EXPR selects", "EXPR"},
	{"snapshot", format.CommandSnapshot, "request a snapshot of the program", "path"},
}

// Limits for the program's answer. It polls once a second.
const (
	answerTimeout   = 5 * time.Second
	snapshotTimeout = time.Minute // it copies up to some GiB
)

func newCtl(c *call) func() error {
	timeout := c.flags().Duration("timeout", 0, fmt.Sprintf("wait so long for the answer (default %v, for a snapshot %v)", answerTimeout, snapshotTimeout))
	c.arity = ctlArgs
	c.cmd.ValidArgsFunction = completeCtl
	c.cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return fmt.Errorf("%w; a filter that begins with - needs a -- before it: ctl TRACE filter -- -http.health", err)
	})
	return func() error {
		text := ""
		if len(c.args) == 3 {
			text = c.args[2]
		}
		answer, err := ctl(c.context(), c.args[0], c.args[1], text, *timeout)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(c.s.out, show.Text(answer))
		return err
	}
}

// ctl performs the request called name.
func ctl(ctx context.Context, arg, name, text string, timeout time.Duration) (string, error) {
	if isAddress(arg) {
		if timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, timeout)
			defer cancel()
		}
		return controlAddress(ctx, arg, name, text)
	}
	r := format.Request{Text: text}
	for _, c := range ctlCommands {
		if c.name == name {
			r.Command = c.command
		}
	}
	if timeout <= 0 {
		timeout = answerTimeout
		if r.Command == format.CommandSnapshot {
			timeout = snapshotTimeout
		}
	}
	if r.Command == format.CommandSnapshot && text != "" {
		var err error
		if r.Text, err = filepath.Abs(text); err != nil { // the program has another working directory
			return "", fmt.Errorf("%s: finding where it is: %w; give an absolute path", text, err)
		}
	}
	path, err := findTrace(arg)
	if err != nil {
		return "", err
	}
	c, err := openControl(path)
	if err != nil {
		return "", err
	}
	defer c.close()
	return c.ask(ctx, &r, timeout)
}

// ctlArgs checks the arguments of ctl.
func ctlArgs(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("ctl needs a TRACE and a request: on, off, filter EXPR or snapshot [PATH]")
	}
	for _, c := range ctlCommands {
		if c.name != args[1] {
			continue
		}
		switch n := len(args) - 2; {
		case c.text == "" && n > 0 || n > 1:
			return fmt.Errorf("ctl TRACE %s takes no %q; quote arguments with blanks or *", c.name, args[len(args)-1])
		case c.text == "EXPR" && n == 0:
			return fmt.Errorf(`ctl TRACE filter needs a filter, such as 'http.*,-http.health'; "" records everything`)
		}
		return nil
	}
	return fmt.Errorf("no request %q: want on, off, filter EXPR or snapshot [PATH]", args[1])
}

// completeCtl completes requests, and the path of a snapshot.
func completeCtl(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	switch {
	case len(args) == 0:
		return completeTrace(cmd, args, word)
	case len(args) == 1:
		var list []string
		for _, c := range ctlCommands {
			list = append(list, c.name+"\t"+c.help)
		}
		return list, cobra.ShellCompDirectiveNoFileComp
	case len(args) == 2 && args[1] == "snapshot":
		return nil, cobra.ShellCompDirectiveDefault
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}
