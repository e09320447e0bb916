// Package sandbox is the child process in which every untrusted document is
// opened, and the pool that feeds, times and kills it.
//
// It promises that the process that calls it never parses a document; that a
// document which crashes, spins or swells costs no more than its deadline and
// its child; that a child opens no file once it has a document (see The sandbox); and
// that no child outlives its parent.
//
// It refuses to trust a child: what comes back is checked like any bytes from
// outside, because a document may have taken the child over.
//
// # The child
//
// The child is this same binary, run with WorkerArg as its first argument. It
// starts on the first need, serves one document after another, and is replaced
// after it has failed over one or grown. It is stopped from outside only: an
// engine that spins blocks the collector, and with it everything else in the
// child. It ends by itself when its standard input closes.
//
// # The sandbox
//
// A child does what needs files before its first document: for a PDF it loads PDFium,
// from the cache of compiled code or into it. Then it closes its sandbox and says that it
// is ready. On Linux it has no_new_privs from here on, a Landlock domain that allows
// nothing, a seccomp filter on all threads that allows the system calls of the Go runtime
// and of WebAssembly on memory and open pipes only, and limits of open files and of what
// it may write. It can open no file, no
// socket, and no process, and start none. What a system lacks of this costs no document:
// the child reports it, and Pool.Gaps has it for the doctor.
//
// A child that was started for another type of document has no PDFium. It is replaced
// when a PDF comes; from then on all have it.
//
// # Whose turn it is
//
// There are as many children as Options.Processes, each with one document, and no
// more than these: what they use together is bounded by Processes times MemoryLimit.
// Upload work goes before View before Background; within a class the owner goes first
// who has had the least time. Waiting costs nothing of a deadline. What waits is
// bounded: beyond it, calls end with ErrBusy, those of the owner with most of them
// first.
//
// Background work leaves one child to the others where there is more than one. So do
// owners whose documents are slow, and each of them has one child at most (queue.go).
// A document proves slow only when it has a child already. If all children are at such
// documents and a quick owner waits, then the work that came last is stopped, its child
// killed, and its call waits again. One child more instead of that takes more memory
// and helps less. Measured on two busy cores, beside three owners with ten slow
// documents each: with two children, 15 text files of another owner were each processed
// within 0.5 s, and the children had 247 MB. With three and nothing stopped, one of
// three files took 6.9 s, and the children had 475 MB.
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
// parent answers with setup once, and the child says ready when its sandbox is closed.
// Then, for each document:
//
//	parent              child
//	task   JSON ------>        what to do, size, kind, limits
//	            <------ ask    1 to 16 parts: offset 64 bit, length 32 bit, big-endian
//	block bytes ------>        exactly the parts, one after another
//	   (or) lost ----->        empty: the parent could not read them
//	            ...            ask and block any number of times
//	            <------ image  JSON: type, width, height and size of a picture
//	            <------ piece  bytes of it, until there are as many
//	   (or)     <------ text   page 32 bit, big-endian, and its text in UTF-8
//	            ...            pages in order
//	   (or)     <------ sizes  of up to 4,096 pages in order (layout.go)
//	            ...            until all pages have theirs
//	   (or)     <------ marks  on one page (layout.go)
//	            <------ done   JSON: the verdict, or the end of what came before
//	   (or)     <------ fault  JSON: no verdict, and why
//
// The parts of an ask lie within the document and are for at most 64 KiB
// together. A picture is of a type, width and size that were asked for, and
// begins as its type does. Pages rise, and keep to the limits in number and
// length; their text has no control characters but those that part lines and
// columns. Sizes are positive, marks lie within their page. Asks are not without end (talk.go). Anything else is a breach, and
// ends the child.
package sandbox
