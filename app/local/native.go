//go:build !windows

package local

func native() flavour { return socket{} }
