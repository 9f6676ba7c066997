package nats

type client struct{ another int }
