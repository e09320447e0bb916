//go:build !windows

package control

func native() flavor { return socket{} }
