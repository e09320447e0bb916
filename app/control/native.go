//go:build !windows

package control

func native() flavour { return socket{} }
