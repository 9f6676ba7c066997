module example.com/strangers

go 1.26.0
