//go:build !windows

package control

func defaultTransport() transport { return unixSocket{} }
