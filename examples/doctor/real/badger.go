package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/ristretto/v2/z"

	"github.com/scopeview/scopeview/scope"
)

const users = 200_000

func key(n int) []byte { return fmt.Appendf(nil, "user/%08d", n) }

func value(n int) []byte { return binary.LittleEndian.AppendUint64(make([]byte, 120), uint64(n)) }

// database returns a database with n users.
func database(dir string, n int) (*badger.DB, error) {
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil))
	if err != nil {
		return nil, err
	}
	return db, load(db, n)
}

func load(db *badger.DB, n int) error {
	batch := db.NewWriteBatch()
	defer batch.Cancel()
	for i := range n {
		if err := batch.Set(key(i), value(i)); err != nil {
			return err
		}
	}
	return batch.Flush()
}

func badgerLoad(dir string) error {
	db, err := database(dir, 0)
	if err != nil {
		return err
	}
	defer db.Close()
	defer scope.Task("load")()
	return load(db, 2*users)
}

// badgerRead reads users by eight workers.
func badgerRead(dir string) error {
	db, err := database(dir, users)
	if err != nil {
		return err
	}
	defer db.Close()
	return each(8, func(worker int) error {
		r := rand.New(rand.NewPCG(uint64(worker), 1))
		for range 3000 {
			end := scope.Task("read twenty users")
			err := db.View(func(tx *badger.Txn) error {
				for range 20 {
					item, err := tx.Get(key(r.IntN(users)))
					if err != nil {
						return err
					}
					if err := item.Value(func([]byte) error { return nil }); err != nil {
						return err
					}
				}
				return nil
			})
			if end(); err != nil {
				return err
			}
		}
		return nil
	})
}

// badgerUpdate changes users by eight workers, each in transactions of its own.
func badgerUpdate(dir string) error {
	db, err := database(dir, users)
	if err != nil {
		return err
	}
	defer db.Close()
	return each(8, func(worker int) error {
		for n := range 6000 {
			end := scope.Task("update")
			err := db.Update(func(tx *badger.Txn) error {
				k := key((n*8 + worker) % users)
				if _, err := tx.Get(k); err != nil {
					return err
				}
				return tx.Set(k, value(n))
			})
			if end(); err != nil {
				return err
			}
		}
		return nil
	})
}

// badgerScan goes through all users by badger's own Stream.
func badgerScan(dir string) error {
	db, err := database(dir, 3*users)
	if err != nil {
		return err
	}
	defer db.Close()
	for range 2 {
		end := scope.Task("scan")
		stream := db.NewStream()
		stream.LogPrefix = ""
		stream.Send = func(*z.Buffer) error { return nil }
		err := stream.Orchestrate(context.Background())
		if end(); err != nil {
			return err
		}
	}
	return nil
}
