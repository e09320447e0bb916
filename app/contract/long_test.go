//go:build !race

package contract

// inFirst is how many requests the usual round has.
const inFirst = 1200
