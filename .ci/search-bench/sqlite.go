package main

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver
)

// sqlite is a table of SQLite FTS5 that stores only the index.
type sqlite struct {
	db        *sql.DB
	tx        *sql.Tx
	order     string
	textBytes int
}

func openSQLite(dir, order string) (engine, error) {
	pragmas := "_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=cache_size(-32768)&_pragma=temp_store(memory)"
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(dir, "fts.db"))+"?"+pragmas)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	_, err = db.Exec(`CREATE VIRTUAL TABLE IF NOT EXISTS records USING
		fts5(number, county, name, text, content='', contentless_delete=1, tokenize='ascii', prefix='6')`)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &sqlite{db: db, order: order}, nil
}

func (sq *sqlite) put(r record) (err error) {
	if sq.tx == nil {
		if sq.tx, err = sq.db.Begin(); err != nil {
			return err
		}
	}
	_, err = sq.tx.Exec(`INSERT OR REPLACE INTO records(rowid, number, county, name, text) VALUES(?, ?, ?, ?, ?)`,
		int64(r.id), r.number, r.county, r.name, r.text)
	if err != nil {
		return err
	}
	const overhead = 500 // of a record without text
	if sq.textBytes += overhead + len(r.text); sq.textBytes < 12<<20 {
		return nil
	}
	return sq.flush()
}

func (sq *sqlite) flush() error {
	if sq.tx == nil {
		return nil
	}
	err := sq.tx.Commit()
	sq.tx, sq.textBytes = nil, 0
	return err
}

func (sq *sqlite) search(s search) (total int, err error) {
	match := ""
	switch s.class {
	case exactNumber:
		match = `number : "` + s.words[0] + `"`
	case numberPrefix:
		match = `number : "` + s.words[0] + `" *`
	case phrase, rarePhrase:
		match = `text : "` + strings.Join(s.words, " ") + `"`
	case typingError:
		return 0, errNotSupported
	default:
		match = `text : (` + strings.Join(s.words, " AND ") + `)`
	}
	if s.county != "" {
		match = "(" + match + `) AND county : "` + s.county + `"`
	}
	rows, err := sq.db.Query(`SELECT rowid FROM records WHERE records MATCH ? ORDER BY `+sq.order+` LIMIT ?`, match, maxHits)
	if err != nil {
		return 0, err
	}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return 0, errors.Join(err, rows.Close())
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, err
	}
	err = sq.db.QueryRow(`SELECT count(*) FROM records WHERE records MATCH ?`, match).Scan(&total)
	return total, err
}

func (sq *sqlite) close() error { return errors.Join(sq.flush(), sq.db.Close()) }
