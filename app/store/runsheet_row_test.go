package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/kv/boltkv"
	"deedkeep/app/model"
)

// putInstruments writes count new instruments of abstract 1, some of them in the trash.
func putInstruments(tx *Tx, count int) (err error) {
	for n := range count {
		id, e := tx.NewInstrumentID()
		i := model.Instrument{ID: id, AbstractID: 1, Recorded: fmt.Sprintf("2019-04-%02d", 1+n%30), Book: fmt.Sprint(n), CreatedAt: testTime}
		if n%5 == 4 {
			i.Trashed = trashedAt(1, "")
		}
		err = errors.Join(err, e, tx.PutInstrument(i))
	}
	return err
}

// The sort keys of runsheets follow every change of an instrument: new fields, the trash, another
// abstract, and a purge.
func TestRunsheetKeysFollowChanges(t *testing.T) {
	s := openNew(t)
	const abstracts = 3
	fill(t, s, abstracts)
	rng := rand.New(rand.NewPCG(5, 6))
	text := func() string {
		return pick(rng, "", "1", "417", "É 7", "2019-04-17", "a\x00b", strings.Repeat("9", 200))
	}
	var ids []uint64
	for range 60 {
		update(t, s, func(tx *Tx) (err error) {
			for range 4 {
				var i model.Instrument
				switch n := rng.IntN(8); {
				case n < 3 || len(ids) == 0:
					i = model.Instrument{CreatedAt: testTime}
					if i.ID, err = tx.NewInstrumentID(); err != nil {
						return err
					}
					ids = append(ids, i.ID)
				case n == 3:
					at := rng.IntN(len(ids))
					if err := tx.RemoveInstrument(ids[at]); err != nil {
						return err
					}
					ids = slices.Delete(ids, at, at+1)
					continue
				default:
					if i, err = tx.InstrumentIncludingTrash(pick(rng, ids...)); err != nil {
						return err
					}
				}
				i.AbstractID, i.Trashed = 1+rng.Uint64N(abstracts), pick(rng, nil, trashedAt(1, ""))
				i.Recorded, i.RecordedTime, i.Book, i.Page, i.Number, i.Dated = text(), text(), text(), text(), text(), text()
				if err := tx.PutInstrument(i); err != nil {
					return err
				}
			}
			return nil
		})
		view(t, s, func(tx *Tx) error {
			for abstract := uint64(1); abstract <= abstracts; abstract++ {
				live, err := tx.LiveInstruments(abstract)
				var want []model.RunsheetKey
				for _, i := range live {
					want = append(want, i.RunsheetKey())
				}
				got, damage, keysErr := tx.RunsheetKeys(abstract)
				if err = errors.Join(err, damage, keysErr); err != nil || !slices.Equal(got, want) {
					t.Fatalf("abstract %d: got %+v, %v; want %+v", abstract, got, err, want)
				}
			}
			return nil
		})
	}
	if findings := check(t, s); len(findings) > 0 {
		t.Errorf("got findings %+v, want none", findings)
	}
}

// A write of an instrument leaves an unchanged sort key alone.
func TestUnchangedRunsheetRowIsNotWritten(t *testing.T) {
	s := openNew(t)
	fill(t, s, 1)
	update(t, s, func(tx *Tx) error { return putInstruments(tx, 1) })
	update(t, s, func(tx *Tx) error {
		i, err := tx.Instrument(1)
		i.Legal = "Lot 7"
		writes := func() int64 { stats := boltkv.BoltTx(tx.tx).Stats(); return stats.GetNodeCount() }
		before := writes()
		if err := errors.Join(err, tx.putRunsheetRow(&i)); err != nil || writes() != before {
			t.Errorf("unchanged: got %v, %d nodes; want %d", err, writes(), before)
		}
		i.Book = "418"
		if err := tx.putRunsheetRow(&i); err != nil || writes() == before {
			t.Errorf("another book: got %v, %d nodes; want more than %d", err, writes(), before)
		}
		return tx.PutInstrument(i)
	})
}

var sampleRow = model.Instrument{ID: 7, AbstractID: 1, Recorded: "2019-04-17", RecordedTime: "09:30", Book: "417", Page: "7", Number: "2019-1",
	Dated: "2019-04-16"}

func TestDamagedRunsheetRow(t *testing.T) {
	key := runsheetRowKey(&sampleRow)
	valid := encodeRunsheetRow(key, &sampleRow)
	if got, trashed, err := decodeRunsheetRow(key, valid); err != nil || trashed || got != sampleRow.RunsheetKey() {
		t.Fatalf("decoded %+v, %t, %v; want %+v", got, trashed, err, sampleRow.RunsheetKey())
	}
	content := valid[recordHeaderSize:]
	damaged := map[string][]byte{"no value": {}, "only a header": addRecordHeader(bucketRunsheetRows, key, nil),
		"a longer content":   addRecordHeader(bucketRunsheetRows, key, append(slices.Clone(content), 0)),
		"an unknown mark":    addRecordHeader(bucketRunsheetRows, key, append([]byte{2}, content[1:]...)),
		"a huge length":      addRecordHeader(bucketRunsheetRows, key, append([]byte{0}, slices.Repeat([]byte{0xff}, 12)...)),
		"a length of 2^64-1": addRecordHeader(bucketRunsheetRows, key, []byte{0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1}),
		"of another key":     addRecordHeader(bucketRunsheetRows, encodeUint64(7), content)}
	for n := range content {
		damaged[fmt.Sprint("the content cut to ", n)] = addRecordHeader(bucketRunsheetRows, key, content[:n])
	}
	for bit := range len(valid) * 8 {
		flipped := slices.Clone(valid)
		flipped[bit/8] ^= 1 << (bit % 8)
		damaged[fmt.Sprint("flipped bit ", bit)] = flipped
	}
	for name, raw := range damaged {
		if _, _, err := decodeRunsheetRow(key, raw); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: got %v, want ErrDamaged", name, err)
		}
	}
}

// The instrument of a damaged sort key is read from its record until a rebuild corrects the sort key.
// Check finds it, and also an intact entry with wrong fields.
func TestRebuildCorrectsRunsheetRow(t *testing.T) {
	s := openNew(t)
	fill(t, s, 2)
	update(t, s, func(tx *Tx) error { return putInstruments(tx, 3) })
	first := model.Instrument{ID: 1, AbstractID: 1}
	key := runsheetRowKey(&first)
	for name, row := range map[string]struct {
		raw     []byte
		damaged bool
	}{
		"damaged":         {[]byte("torn"), true},
		"of other fields": {encodeRunsheetRow(key, &model.Instrument{Recorded: "1999-01-01"}), false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := alter(s, func(tx *Tx) error { return tx.bucket(bucketRunsheetRows).Put(key, row.raw) }); err != nil {
				t.Fatalf("change database: %v", err)
			}
			view(t, s, func(tx *Tx) error {
				got, damage, err := tx.RunsheetKeys(1)
				if err != nil || len(got) != 3 || errors.Is(damage, ErrDamaged) != row.damaged || row.damaged && got[0].Recorded != "2019-04-01" {
					t.Errorf("RunsheetKeys(1) = %+v, %v, %v; want 3 keys, damage: %t", got, damage, err, row.damaged)
				}
				_, damage, err = tx.RunsheetKeys(2)
				return errors.Join(damage, err)
			})
			want := Finding{"instrument", "1", "has a wrong entry in the database index runsheet_rows"}
			if findings := check(t, s); !slices.Contains(findings, want) {
				t.Errorf("got findings %+v, want %+v", findings, want)
			}
			if err := s.Rebuild(t.Context(), func(f Finding) { t.Errorf("Rebuild reported %+v", f) }); err != nil {
				t.Fatalf("rebuild: %v", err)
			}
			view(t, s, func(tx *Tx) error {
				if got, damage, err := tx.RunsheetKeys(1); errors.Join(damage, err) != nil || len(got) != 3 || got[0].Recorded != "2019-04-01" {
					t.Errorf("after Rebuild: RunsheetKeys(1) = %+v, %v; want those of 3 instruments", got, err)
				}
				return nil
			})
		})
	}
}

func FuzzDecodeRunsheetRow(f *testing.F) {
	key := runsheetRowKey(&sampleRow)
	f.Add(encodeRunsheetRow(key, &sampleRow)[recordHeaderSize:])
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, content []byte) {
		got, trashed, err := decodeRunsheetRow(key, addRecordHeader(bucketRunsheetRows, key, content))
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("got %v, want nil or ErrDamaged", err)
			}
			return
		}
		i := model.Instrument{ID: got.ID, AbstractID: 1, Recorded: got.Recorded, RecordedTime: got.RecordedTime, Book: got.Book, Page: got.Page,
			Number: got.Number, Dated: got.Dated}
		if trashed {
			i.Trashed = trashedAt(1, "")
		}
		again, trashedAgain, err := decodeRunsheetRow(key, encodeRunsheetRow(key, &i))
		if err != nil || again != got || trashedAgain != trashed {
			t.Errorf("encoded and decoded again: got %+v, %t, %v; want %+v, %t", again, trashedAgain, err, got, trashed)
		}
	})
}
