package web

// The first command installs the packages from which the second one copies files.
//
//go:generate npm ci
//go:generate go run ./copy
