// Package sandbox opens untrusted documents in worker processes. It contains the worker, the pool
// that starts, schedules, and kills workers, and the protocol between them.
//
// It guarantees:
//   - The calling process never parses a document.
//   - A document that crashes its worker, loops forever, or exhausts memory takes down only that
//     worker, by its deadline at the latest.
//   - A worker doesn't open any files after it receives a document (see Protections).
//   - No worker outlives its parent.
//
// A malicious document may take control of its worker. Everything a worker sends is therefore
// validated like any other untrusted input.
//
// # Workers
//
// A worker is this same binary, run with WorkerArg as its first argument. Workers start on demand.
// A worker processes one document after another. It is replaced after a failure or when its memory
// has grown too large, and ends after two minutes without a document. Only the parent can stop a worker, because a document engine in an endless
// loop blocks the garbage collector and with it the rest of the process. A worker exits when its
// standard input is closed.
//
// If something outside the program kills a worker (the OOM killer or an administrator), the
// document is not to blame. The call is retried once. If the new worker is killed too, the call
// returns ErrKilled, and the caller may try again. If workers die for any other reason, the
// document is reported as damaged, too slow, or too large. These errors are permanent
// (IsDocumentError).
//
// # Protections
//
// A worker does everything that needs files before its first document. For a PDF, it loads PDFium
// from the cache of compiled code, or compiles it and stores it there. Then it drops its privileges
// and reports that it is ready:
//   - Linux: no_new_privs, a Landlock domain that allows nothing, a seccomp filter on all threads,
//     and rlimits on open files, file size, data size, and core dumps. The filter allows only the
//     system calls that the Go runtime and WebAssembly need to use memory and pipes that are
//     already open. The worker can't open files or sockets or start processes.
//   - Windows: a job object that limits memory and prevents a second process, a restricted token
//     without privileges, and low integrity.
//   - macOS and other systems: no core dumps. Deadlines apply, but there is no sandbox.
//
// For reading words on page images, it loads Tesseract and the data of its languages in the same
// way. Data that can't be used is reported (Pool.BadLanguages), and the other languages still work.
//
// If the system lacks a protection, the worker runs without it and reports that.
// Pool.MissingProtections returns the report, for deedkeep doctor.
//
// A worker that was started for another document type can no longer load PDFium. It is replaced
// when a PDF arrives. From then on, all new workers load PDFium. The same is true for Tesseract and
// the first page whose words are read.
//
// # Scheduling
//
// There are up to Options.Workers workers, each with one document at a time, so the total memory of
// all workers is limited to Workers times MemoryLimit. Upload work goes before View work, and View
// before Background. Within a class, the owner that has used the least worker time goes first. The
// time that a call waits doesn't count toward its deadline. The queue is bounded. When the queue is
// full, the newest call of the owner with the most waiting calls fails with ErrBusy.
//
// With Options.LowPriority, workers run only when other processes leave CPU time. On a busy
// computer, reading a page then takes longer, so its deadline counts CPU time (watchdog.go).
//
// If there are several workers, background work never takes the last one. Neither do slow owners
// (owners of slow documents), and each slow owner gets at most one worker (queue.go). The pool
// finds out that a document is slow only by running it. If all workers are busy with slow documents
// and another owner waits, the most recently started slow work is preempted: its worker is killed,
// and its call is queued again.
//
// Preemption uses less memory than an extra worker and works better. This was measured on two busy
// cores with three owners of ten slow documents each. With two workers and preemption, each of 15
// text files of another owner was processed within 0.5 s, and the workers used 247 MB. With three
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
//	   (or)       <------ sizes       JSON: of up to 4,096 pages in order (layout.go)
//	              ...                 until all pages have been sent
//	   (or)       <------ marks       JSON: of a phrase on one page (layout.go)
//	   (or)       <------ words       JSON: of one page, in reading order (words.go)
//	              ...                 until all words have been sent
//	   (or)       <------ rows        JSON: of a runsheet, in order (runsheet.go)
//	              ...                 until all rows have been sent
//	   (or)       <------ file        bytes of a file (searchable.go)
//	              ...                 until all bytes have been sent
//	              <------ done        JSON: the report, or the end of the result
//	   (or)       <------ error       JSON: why the task failed
//
// The ranges of a read lie within the document and add up to at most 64 KiB. The total of all reads
// is limited, too (exchange.go). An image has a requested type and at most the requested size, and
// its data starts with the signature of its type. Page numbers ascend and stay within the limits,
// as does the length of the text. Text contains no control characters except whitespace. Page sizes
// are positive, and marks and words lie within their page. Words are printable and limited in
// number. Row numbers ascend and stay within the limits. A file has a maximum size. The parent kills
// a worker that violates any of these rules.
package sandbox
