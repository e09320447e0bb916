package web

// The order matters: the packages first, then what is embedded of them.
//
//go:generate npm ci
//go:generate go run ./copy
