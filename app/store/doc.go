// Package store is the repository of a vault. It keeps all records in one file. It
// provides typed reads and writes in transactions, secondary indexes, paged lists,
// migrations, check and rebuild, snapshots, and group commits.
//
// # The bucket tree
//
// Numbers are 8 bytes, big endian, so keys sort numerically. fold(s) is model.Fold.
// table.go shows the encoding of a record. Index entries have no value unless one is
// shown.
//
//	meta/
//	    schema            number    version of this tree; see migrate.go
//	    secret            text      fingerprint of the secret.key of this vault
//	    created           text      time of creation (RFC 3339)
//	    version           text      version of deedkeep that created or migrated the file, or whose server last used it
//	    rebuilding        0x01      while a Rebuild is in progress; lists fail
//	counters/
//	    abstracts, orders, files, bytes, failed    number    live records, without the trash
//	    text_known, textless, ocr_files, ocr_pages number    live files
//	    folders, tasks, trashed, file_records      number
//	counts/          type, 0x00, column, 0x00, value -> number of live records; missing if 0
//	templates/       id                   record model.Template
//	workspace/
//	    generation                        record string: random, new at each start; missing before the first
//	    order_fields                      record []model.Field
//	    order_statuses                    record []string
//	    document_types                    record model.DocumentTypes
//	    default_template                  record uint64; missing if there is none
//	    settings                          record map[string]string: settings of the Settings page; missing before the first
//	    logo                              record []byte: image of the firm's logo, PNG or JPEG; missing if there is none
//	    patterns                          record string: county patterns (YAML, see app/extract); missing if there are none
//	    phrases                           record model.Phrases; missing in a vault of an older version
//	    time_zone                         record string: the setting time_zone in databases of older versions
//	folders/         id                   record model.Folder
//	folder_names/    parent id, fold(name)          -> id
//	abstracts/       id                   record model.Abstract
//	abstract_index/  list index: county y, template_id k, status s, state t
//	abstract_sorted/ sort index: file number f, parcel p, address a, last change u
//	orders/          id                   record model.Order
//	order_index/     list index: order_number n, county y, status s, state t, assignee w, due date d
//	order_sorted/    sort index: parcel p, address a, due date of open orders o, last change u
//	files/           id                   record model.File
//	file_index/      list index: abstract_id a, folder_id f, unassigned o, is_processing q
//	file_digests/    digest (32), file id           includes files in the trash
//	failed/          file id              live files whose processing failed
//	tasks/           seq                  record model.ProcessingTask
//	ocr_queue/       owner, 0xFF… minus file id (8)  -> number of pages; files whose pages wait for OCR
//	                 owner: 2, hash of the owner (8); 0 without an owner; 1 for a file in the trash
//	trash/           list index: type w; an ID is 1 byte type and 7 bytes ID
//	replays/         slot (32)            record model.StoredResponse: response to an idempotent request
//	replay_times/    time (8), slot (32)
//	keys/            id                   record model.Key
//	key_hashes/      hash (32)                      -> id
//	users/           id                   record model.User
//	user_names/      fold(name)                     -> id
//	sessions/        hash (32)            record model.Session
//	session_users/   user id, hash (32)
//	events/          seq                  record model.Event
//	event_index/     list index: record r, actor a, kind w
//	instruments/     id                   record model.Instrument
//	instrument_index/ list index: abstract_id a, county k, state y, type_id t, number i, book b, page p, recorded d
//	instrument_refs/ tag, target id, instrument id    tag r: target of a relation; f: file
//	runsheet_rows/   abstract id, instrument id     -> sort key of the runsheet (see instrument.go); includes instruments in the trash
//	title_work/      abstract id          record model.TitleWork
//	order_abstracts/ order id, abstract id            abstracts of an order
//	user_abstracts/  user id, due date (10), abstract id  open abstracts that a user works on; 9999-99-99 without a due date
//	notes/           id                   record model.Note
//	record_notes/    record, 0x00, note id            notes about a record; 0x01 for those in the trash
//	views/           id                   record model.View
//	changes/         seq                  type and ID of a record; see change.go
//
// # Lists
//
// A list index has several entries for each record of a type. The value of each entry
// contains the record's columns, so that a scan can apply filters without reading records:
//
//	key    tag (1) | filter or sort value | created (8) | id (8)
//	value  columns, each as 4 bytes, in the order drawn above; without the assignee if there is none
//
//	tag c  no filter or sort value                every record
//	a column's tag, hash of the value (8)         every record with a value in the column
//	tag d  days (8), 0xFF… without a due date     every order
//	tag n  fold(number), 0x00                     every order
//
// A sort index has entries of the same form with the same values:
//
//	a text's tag, normalized text cut to 64 bytes, 0x00    every record; 0xFF, 0x00 without a text
//	tag o  days (8), 0xFF… without a due date              every open order (model.IsOpenStatus)
//	tag u  updated (8)                                     every record
//
// File numbers and parcels are normalized with model.NormalizeNumber. Addresses, including
// the city and state, are normalized with model.NormalizeText. Sort indexes are also used
// to search by prefix (find.go).
//
// Times are microseconds since 1970, and days are days since 1970. Both have the sign bit
// flipped so that they sort. column.go describes how values are hashed. Two values can have
// the same hash, so each match is verified against the record.
//
// A record in the trash (Trashed is set) is only in the trash list. A file that was deleted
// along with its abstract isn't in that list either.
//
// The position of a page is the part of a key after its tag, in the index that has the
// requested sort order. Pages don't shift when records are added or removed. A query uses
// the smallest range of an index that contains all matches. If the range has the requested
// order, it is scanned. If it doesn't and is small, its records are loaded and sorted in
// memory. Otherwise, the query scans the index that has the requested order. It reads a
// limited number of entries and returns a position to continue from.
//
// IDs come from the bucket's sequence and are never reused.
//
// # Rules
//
// A change to the bucket tree requires a new schema: append a migration to the list in
// migrate.go and add a fixture of the previous schema. Fixtures are kept permanently.
//
// The Put function of a type writes the record, its index entries, and its change feed
// entry in one transaction. Counters are written once per commit. Unchanged entries are not
// written at all. Rebuild regenerates all of them. The store has no business rules. Rules
// within a type are in app/model, and rules between types are in the services that use the
// store.
//
// # Guarantees
//
// Update returns nil only after the commit was synced to the disk. After a disk error
// during a commit, the store becomes read-only (see Store.Failure). The exception is a full
// disk, which the database handles safely. If the last session didn't close cleanly, Open reads
// the file from the disk again and returns an error if the page cache differs from the
// disk. Package pagecache describes the limits of this check on Windows and macOS.
package store
