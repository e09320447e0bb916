// Package search keeps the full-text index of a vault up to date and answers searches.
//
// # Indexing
//
// An [Indexer] copies records from the database (app/store) into a full-text index
// (app/search/query). Writers never wait for it: each write adds an entry to the change feed of
// the database, and the indexer follows that feed in passes of one batch each. Changes are
// gathered for a short time and are searchable within about a second. While documents are being
// uploaded, a batch waits briefly.
//
// # Generations
//
// Each generation of the index has a numbered folder:
//
//	search/
//	    current    the number of the live index
//	    1/         the live index (app/search/query)
//	    2/         an index that is being built
//
// Folders are never renamed, because Windows can't rename a folder with open files.
//
// # Checkpoints
//
// Every batch is committed together with a checkpoint. It names the last change that the index
// contains, the progress of a build, and the database that the index belongs to. After a crash or
// a restart, indexing resumes from the checkpoint.
//
// # Rebuilds
//
// The indexer rebuilds the index from the records on request, and if the index is missing, damaged, has
// another format, belongs to another database, or is so far behind that the change feed no longer
// contains its next change. A rebuild creates a new generation. The live index serves searches until
// the new one is complete; then the file current is rewritten and the old folder deleted. The search
// folder may be deleted at any time, even while a server runs. Rebuilds are delayed if the index fails
// repeatedly. The index stops growing before free disk space is so low that uploads are rejected.
//
// # Service
//
// [Service] runs searches, a limited number at a time. It reads each hit from the database again, so
// that results do not contain deleted records, and adds snippets. [Service.Find] looks up records by
// number, parcel, or address in the database and works without the index. A search fails with
// errs.Unavailable while no complete index exists, or if too many searches are running.
package search
