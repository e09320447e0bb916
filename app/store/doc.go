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
//	    rebuilding        0x01      while a Rebuild is under way; lists are refused
//	counters/
//	    abstracts, orders, files, bytes, failed    number    without what is in the trash
//	    folders, tasks, trashed, file_records      number
//	counts/          noun, 0x00, column, 0x00, value -> number of live records; none is absent
//	templates/       id                   record title.Template
//	workspace/
//	    generation                        record string: a word for each serve; absent before the first
//	    order_fields                      record []title.Field
//	    order_statuses                    record []string
//	    default_template                  record uint64; absent where there is none
//	folders/         id                   record title.Folder
//	folder_names/    parent id, fold(name)          -> id
//	abstracts/       id                   record title.Abstract
//	abstract_index/  list index: county y, template_id k, status s, state t
//	abstract_sorted/ its sorts: file number f, parcel p, address a; and last change u
//	orders/          id                   record title.Order
//	order_index/     list index: order_number n, county y, status s, state t; and due dates
//	order_sorted/    its sorts: parcel p, address a; due dates of the open ones; and last change u
//	files/           id                   record title.File
//	file_index/      list index: abstract_id a, folder_id f, nowhere o, is_processing q
//	file_digests/    digest (32), file id           also of files in the trash
//	failed/          file id              of files whose processing failed, not in the trash
//	tasks/           seq                  record title.Task
//	trash/           list index: kind w (the noun); its ids are a byte of the noun and 7 of the id
//	replays/         slot (32)            record title.Replay
//	replay_times/    time (8), slot (32)
//	keys/            id                   record title.Key
//	key_hashes/      hash (32)                      -> id
//	users/           id                   record title.User
//	user_names/      fold(name)                     -> id
//	sessions/        hash (32)            record title.Session
//	session_users/   user id, hash (32)
//	events/          seq                  record title.Event
//	event_index/     list index: record r, actor a, kind w
//	changes/         seq                  noun and id of a record; see change.go
//
// # Lists
//
// A list index has the entries of one noun; each says in its value what the others
// say in their keys, so that a walk judges a record without reading it:
//
//	key    tag (1) | what it sorts or filters by | created (8) | id (8)
//	value  columns, each the short form (4) of its word, in the order drawn above
//
//	tag c  nothing more                           every record
//	a column's tag, word (8)                      every record with a value there
//	tag d  days (8), 0xFF… without a due date     every order
//	tag n  fold(number), 0x00                     every order
//
// The sorts of a list have entries of the same shape, with the same values:
//
//	a text's tag, form(text) cut to 64 bytes, 0x00    every record; 0xFF, 0x00 without a text
//	tag o  days (8), 0xFF… without a due date         every order that is open (title.OpenStatus)
//	tag u  updated (8)                                every record
//
// The form of file numbers and parcels is title.Squeezed, that of addresses, with city
// and state, title.Plain. They serve a sort of the list, and a look at what begins
// with a text (find.go).
//
// Times are microseconds since 1970, days are days since 1970, both with the sign
// flipped so that they sort. A word is at column.go. Words may be those of two
// values: what a list gives was compared in the record itself.
//
// A record in the trash (Trashed is set) is in no list but that of the trash, and a
// file that went there along with its abstract is not in that one either.
//
// A position is what follows the tag in the index of the sort: keysets, so that no
// coming and going of others moves a page. A query is answered by the smallest part
// of the index that holds what it asks for, walked where that stands in the order
// asked for, gathered and sorted where it does not and is small, else by the index
// of that order. It looks at a bounded number of entries and says where to go on.
//
// Ids come from the sequence of their bucket and are never used twice.
//
// # Rules
//
// A change of this picture is a new schema: a migration at the end of the list in
// migrate.go and a fixture of the schema before it, kept for ever.
//
// Indexes and counters are written with the record, in its transaction, by the one
// Put function of its noun; counters once a commit. What is the same before and
// after is not written. Rebuild makes all of them anew. So is the feed of changes
// written, for those who follow from outside. Nothing here decides: rules of one noun
// are in app/model, rules between nouns in app/vault.
//
// # Promises
//
// Update returns nil only after the commit was synced. After an error of the disk
// during a commit (other than a full disk, which bbolt survives) the store takes
// no more writes: see Store.Failed. After a session that did not end cleanly, Open
// reads the file from the disk again, and refuses one that differs in memory; what
// Windows and macOS can't do of that is at reread.go.
package store
