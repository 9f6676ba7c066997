package build

import (
	"context"
	"os"

	"github.com/scopeview/scopeview/internal/build/std"
)

// CheckHooks tests each hook in the standard library of the go command in dir, and returns
// the version of Go.
func CheckHooks(ctx context.Context, c Cache, dir string) ([]std.Result, string, error) {
	e, err := askGo(ctx, dir)
	if err != nil {
		return nil, "", err
	}
	if err := known(e); err != nil {
		return nil, "", err
	}
	m := &maker{o: Options{Cache: c, Dir: dir}, env: e, plan: &Plan{}}
	if err := m.toolchain(); err != nil {
		return nil, "", err
	}
	recorder, err := c.recorder(goCommand(ctx, dir))
	if err != nil {
		return nil, "", err
	}
	tmp, err := os.MkdirTemp("", "scopeview-")
	if err != nil {
		return nil, "", err
	}
	defer os.RemoveAll(tmp)
	list, err := std.Check(ctx, m.plan.Go, m.plan.Env, recorder, tmp)
	return list, e.GOVERSION, err
}
