//go:build !race

package contract

// defaultRequests is the number of requests in the default round.
const defaultRequests = 1200
