// Package storage keeps the blobs of a vault healthy. It knows which of them are damaged, deletes
// those that no record refers to, and notices when the disk doesn't accept documents. It also notices
// if the database was replaced with an older copy, whose lack of records must not delete blobs, and if
// the server didn't stop cleanly.
package storage

import (
	"deedkeep/app/blobstore"
	"deedkeep/app/pagetext"
	"deedkeep/app/txn"
)

// Storage is what a vault stores outside the database. It is safe for concurrent use.
type Storage struct {
	*txn.DB
	Blobs         *blobstore.Store
	Previews      *blobstore.Previews
	OCRFiles      *blobstore.OCRFiles
	Texts         *pagetext.Store
	Sweeper       *Sweeper
	StorageHealth health
	DamagedBlobs  damagedBlobs
	ServerStarted bool // set by RecordServerStart

	Scrub interface { // the scrubber; must be set after New
		Enqueue(blobstore.Digest)
		Save()
	}
}

// New returns the storage of an open database.
func New(db *txn.DB, blobs *blobstore.Store, previews *blobstore.Previews, ocrFiles *blobstore.OCRFiles) *Storage {
	s := &Storage{DB: db, Blobs: blobs, Previews: previews, OCRFiles: ocrFiles, Texts: pagetext.New(previews, ocrFiles)}
	s.Sweeper = &Sweeper{Storage: s}
	return s
}

// VerifySoon queues a blob for verification.
func (s *Storage) VerifySoon(digest blobstore.Digest) { s.Scrub.Enqueue(digest) }

// saveDamagedBlobs writes the set of damaged blobs to disk.
func (s *Storage) saveDamagedBlobs() { s.Scrub.Save() }
