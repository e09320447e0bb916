// Package reader is the child process in which every untrusted document is
// opened, and the pool that feeds, times and kills it.
//
// It promises that the process that calls it never parses a document; that a
// document which crashes, spins or swells costs no more than its deadline and
// its child; that a child opens no file but the folder of compiled engines; and
// that no child outlives its parent.
//
// It refuses to trust a child: what comes back is checked like any bytes from
// outside, because a document may have taken the child over.
//
// # The child
//
// The child is this same binary, run with ChildArg as its first argument. It
// starts on the first need, serves one document after another, and is replaced
// after it has failed over one or grown. It is stopped from outside only: an
// engine that spins blocks the collector, and with it everything else in the
// child. It ends by itself when its standard input closes.
//
// # The protocol
//
// Frames over the child's standard input and output:
//
//	+----------------+--------+------------------+
//	| length, 32 bit | type,  | content          |
//	| big-endian     | 1 byte | length - 1 bytes |
//	+----------------+--------+------------------+
//
// Each type has a greatest length (frame.go). A child begins with hello; the
// parent answers with setup once. Then, for each document:
//
//	parent              child
//	task   JSON ------>        what to do, size, extension, limits
//	            <------ ask    offset 64 bit, length 32 bit, big-endian
//	block bytes ------>        exactly length bytes
//	   (or) lost ----->        empty: the parent could not read them
//	            ...            ask and block any number of times
//	            <------ done   JSON: the verdict
//	   (or)     <------ fault  JSON: no verdict, and why
//
// An ask lies within the document and is for at most 64 KiB. Anything else is
// a breach, and ends the child.
package reader
