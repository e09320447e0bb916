//go:build race

package contract

// inFirst is less under the race detector, which makes a request several times as dear.
const inFirst = 600
