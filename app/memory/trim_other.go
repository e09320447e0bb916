//go:build !linux

package memory

func releaseMapped(string) {}
