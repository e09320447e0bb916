// Package sandbox opens untrusted documents in worker processes. It holds the worker, the pool
// that starts, schedules, and kills workers, and the protocol between them.
//
// It guarantees that:
//   - the calling process never parses a document;
//   - a document that crashes its worker, loops, or exhausts memory costs at most its deadline and
//     that worker;
//   - a worker opens no file once it has a document (see Protections);
//   - no worker outlives its parent.
//
// A document may take over its worker, so everything a worker sends is validated like any other
// untrusted input.
//
// # Workers
//
// A worker is this same binary, run with WorkerArg as its first argument. Workers start on demand.
// A worker serves one document after another and is replaced after a failure or when its memory
// has grown. Only the parent can stop it: a document engine in an endless loop blocks the garbage
// collector and with it everything else in the process. A worker exits when its standard input is
// closed.
//
// A worker killed by a signal from outside (the OOM killer, a person) says nothing about the
// document: the call is repeated once and then returns ErrKilled, after which the caller may
// retry. If workers die for other reasons the document is reported as damaged, too slow, or too
// large, which is permanent (IsDocumentError).
//
// # Protections
//
// A worker does everything that needs files before its first document: for a PDF it loads PDFium
// from the cache of compiled code, or compiles it into the cache. Then it gives up its rights and
// reports that it is ready:
//   - Linux: no_new_privs, a Landlock domain that allows nothing, a seccomp filter on all threads
//     that allows only the system calls of the Go runtime and of WebAssembly on memory and open
//     pipes, and rlimits on open files, file size, data size, and core dumps. It can open no file
//     or socket and start no process.
//   - Windows: a job object that limits memory and allows no second process, a restricted token
//     without privileges, and low integrity.
//   - macOS and others: no core dumps; deadlines apply, but there is no sandbox.
//
// If the system lacks a protection, the worker runs without it and reports that.
// Pool.MissingProtections returns the report, for deedkeep doctor.
//
// A worker that was started for another type of document has no PDFium and can't load it any
// more. It is replaced when a PDF arrives. From then on all new workers load PDFium.
//
// # Scheduling
//
// There are up to Options.Workers workers with one document each, so their total memory is bounded
// by Workers times MemoryLimit. Upload work goes before View, and View before Background. Within a
// class, the owner that has used the least worker time goes first. Deadlines don't include the
// wait. The queue is bounded: when it is full, calls fail with ErrBusy, those of the owner with the
// most waiting calls first.
//
// Background work leaves one worker to the other classes if there are several. So do owners whose
// documents are slow, and each of them gets one worker at most (queue.go). A document turns out to
// be slow only while it runs. If all workers are busy with slow documents and another owner waits,
// the most recent slow work is preempted: its worker is killed, and its call is queued again.
// Starting one more worker instead takes more memory and helps less. Measured on two busy cores,
// with three owners of ten slow documents each: with two workers and preemption, each of 15 text
// files of another owner was processed within 0.5 s, and the workers used 247 MB. With three
// workers and no preemption, one of three files took 6.9 s, and the workers used 475 MB.
//
// # Protocol
//
// Parent and worker are always the same build, so the protocol has no versions. Both send frames
// over the worker's standard input and output:
//
//	+----------------+--------+------------------+
//	| length, 32 bit | type,  | content          |
//	| big-endian     | 1 byte | length - 1 bytes |
//	+----------------+--------+------------------+
//
// The content of each type has a maximum length (frame.go). A worker begins with hello. The parent
// sends setup once, and the worker sends ready when its protections are in place. Then, for each
// document:
//
//	parent                worker
//	task   JSON   ------>             what to do, size, type, limits
//	              <------ read        1 to 16 ranges: offset 64 bit, length 32 bit, big-endian
//	data   bytes  ------>             exactly these ranges, one after another
//	   (or) unreadable -->            empty: the parent could not read them
//	              ...                 any number of reads
//	              <------ image       JSON: type, width, height, and size of an image
//	              <------ image chunk its bytes, until complete
//	   (or)       <------ text        page number 32 bit, big-endian, and its text in UTF-8
//	              ...                 pages in ascending order
//	   (or)       <------ sizes       of up to 4,096 pages in order (layout.go)
//	              ...                 until all pages have been sent
//	   (or)       <------ marks       of a phrase on one page (layout.go)
//	              <------ done        JSON: the report, or the end of the result
//	   (or)       <------ error       JSON: why there is no result
//
// The ranges of a read lie within the document and add up to at most 64 KiB, and the total of all
// reads is bounded (exchange.go). An image has a requested type and at most the requested size,
// and its bytes begin as its type requires. Page numbers ascend and, like the length of the text,
// stay within the limits. Text contains no control characters except white space. Page sizes are
// positive, and marks lie within their page. The parent kills a worker that violates any of this.
package sandbox
