//go:build race

package contract

// defaultRequests is smaller with the race detector, which slows requests down several times.
const defaultRequests = 600
