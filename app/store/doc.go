// Package store keeps the records of a vault in one bbolt file: buckets, indexes,
// migrations, typed reads and writes on a transaction, and the group commit.
//
// # The bucket tree
//
// Every number is 8 bytes, big endian, so that keys sort as people count. fold(s)
// is title.Fold. A record is drawn at record.go; index entries have no value
// unless one is given.
//
//	meta/
//	    schema            number    the schema this file has; see migrate.go
//	    secret            text      fingerprint of the secret.key that belongs here
//	    created           text      RFC 3339 time of creation
//	counters/
//	    abstracts, orders, files, folders, tasks, failed, bytes    number
//	templates/       id                   record title.Template
//	workspace/
//	    generation                        record string: a word for each serve; absent before the first
//	    order_fields                      record []title.Field
//	    order_statuses                    record []string
//	    default_template                  record uint64; absent where there is none
//	folders/         id                   record title.Folder
//	folder_names/    parent id, fold(name)          -> id
//	abstracts/       id                   record title.Abstract
//	orders/          id                   record title.Order
//	order_numbers/   fold(number), 0x00, id
//	files/           id                   record title.File
//	file_digests/    digest (32), file id
//	failed/          file id              of files whose processing failed (schema 2)
//	tasks/           seq                  record title.Task
//	keys/            id                   record title.Key
//	key_hashes/      hash (32)                      -> id
//	events/          seq                  record title.Event
//
// Ids come from the sequence of their bucket and are never used twice.
//
// # Rules
//
// A change of this picture is a new schema: a migration at the end of the list in
// migrate.go and a fixture of the schema before it, kept for ever.
//
// Indexes and counters are written with the record, in its transaction, by the one
// Put function of its noun. Nothing here decides: rules of one noun are in
// app/title, rules between nouns in app/vault.
//
// # Promises
//
// Update returns nil only after the commit was synced. After an error of the disk
// during a commit (other than a full disk, which bbolt survives) the store takes
// no more writes: see Store.Failed.
package store
