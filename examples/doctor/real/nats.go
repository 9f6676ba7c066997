package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/scopeview/scopeview/scope"
)

// broker is a server in this process, and a way to connect to it.
func broker(dir string) (s *server.Server, connect func() (*nats.Conn, error), err error) {
	s, err = server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true, JetStream: true, StoreDir: dir})
	if err != nil {
		return nil, nil, err
	}
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		return nil, nil, errors.New("the server does not get ready")
	}
	return s, func() (*nats.Conn, error) { return nats.Connect(s.ClientURL()) }, nil
}

// clients runs f in n goroutines, each with a connection of its own.
func clients(n int, connect func() (*nats.Conn, error), f func(c *nats.Conn) error) error {
	return each(n, func(int) error {
		c, err := connect()
		if err != nil {
			return err
		}
		defer c.Close()
		return f(c)
	})
}

// natsPublish has one publisher and two subscribers.
func natsPublish(dir string) error {
	const messages = 400_000
	s, connect, err := broker(dir)
	if err != nil {
		return err
	}
	defer s.Shutdown()
	var got atomic.Int64
	all := make(chan struct{})
	for range 2 {
		c, err := connect()
		if err != nil {
			return err
		}
		defer c.Close()
		sub, err := c.Subscribe("news", func(*nats.Msg) {
			if got.Add(1) == 2*messages {
				close(all)
			}
		})
		if err != nil {
			return err
		}
		if err := errors.Join(sub.SetPendingLimits(-1, -1), c.Flush()); err != nil {
			return err
		}
	}
	c, err := connect()
	if err != nil {
		return err
	}
	defer c.Close()
	payload := make([]byte, 128)
	for range messages / 1000 {
		end := scope.Task("publish a thousand")
		for range 1000 {
			if err := c.Publish("news", payload); err != nil {
				return err
			}
		}
		end()
	}
	if err := c.Flush(); err != nil {
		return err
	}
	select {
	case <-all:
		return nil
	case <-time.After(time.Minute):
		return errors.New("messages got lost")
	}
}

// natsRequest has eight clients and one responder.
func natsRequest(dir string) error {
	s, connect, err := broker(dir)
	if err != nil {
		return err
	}
	defer s.Shutdown()
	answering, err := connect()
	if err != nil {
		return err
	}
	defer answering.Close()
	if _, err := answering.Subscribe("time", func(m *nats.Msg) { _ = m.Respond(m.Data) }); err != nil {
		return err
	}
	if err := answering.Flush(); err != nil {
		return err
	}
	return clients(8, connect, func(c *nats.Conn) error {
		for range 3000 {
			end := scope.Task("ask")
			_, err := c.Request("time", []byte("please"), 20*time.Second)
			if end(); err != nil {
				return err
			}
		}
		return nil
	})
}

// jetstreamPublish has four publishers to a stream stored in files.
func jetstreamPublish(dir string) error {
	s, connect, err := broker(dir)
	if err != nil {
		return err
	}
	defer s.Shutdown()
	c, err := connect()
	if err != nil {
		return err
	}
	defer c.Close()
	js, err := jetstream.New(c)
	if err != nil {
		return err
	}
	if _, err := js.CreateStream(context.Background(), jetstream.StreamConfig{Name: "orders", Subjects: []string{"orders.>"}}); err != nil {
		return err
	}
	return clients(4, connect, func(c *nats.Conn) error {
		js, err := jetstream.New(c)
		if err != nil {
			return err
		}
		payload := make([]byte, 128)
		for range 60 {
			end := scope.Task("publish 250")
			var last jetstream.PubAckFuture
			for range 250 {
				if last, err = js.PublishAsync("orders.new", payload); err != nil {
					return err
				}
			}
			_ = last
			<-js.PublishAsyncComplete()
			end()
		}
		return nil
	})
}
