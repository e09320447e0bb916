package document_test

import (
	"encoding/binary"
	"testing"

	"deedkeep/app/document"
)

func TestOLE(t *testing.T) {
	word := stream("WordDocument", fib(0))
	book := stream("Workbook", biff(record{0x0809, bof}, record{0x000A, nil}))
	slides := stream("PowerPoint Document", nil)
	checkInspections(t, []row{
		{"word", "doc", buildOLE(word, stream("1Table", nil)), ""},
		{"word in upper case", "doc", buildOLE(stream("WORDDOCUMENT", fib(0))), ""},
		{"workbook", "xls", buildOLE(book), ""},
		{"book of Excel 5", "xls", buildOLE(stream("Book", biff(record{0x0809, bof}))), ""},
		{"book and workbook", "xls", buildOLE(book, stream("Book", nil)), ""},
		{"slides", "ppt", buildOLE(slides, stream("Current User", currentUser(0xE391C05F))), ""},
		{"slides without user", "ppt", buildOLE(slides), ""},
		{"word embedded in a workbook", "xls", buildOLE(storage("MBD0018", word), book), ""},
		{"many entries", "doc", buildOLE(append(manyEntries(3000), word)...), ""},

		{"workbook with word embedded, named doc", "doc", buildOLE(storage("MBD0018", word), book), mismatch},
		{"word named xls", "xls", buildOLE(word), mismatch},
		{"word named ppt", "ppt", buildOLE(word), mismatch},
		{"word and workbook", "doc", buildOLE(word, book), mismatch},
		{"storage of that name", "doc", buildOLE(storage("WordDocument", book)), mismatch},
		{"name after a control character", "doc", buildOLE(stream("\x01WordDocument", fib(0))), mismatch},
		{"other compound file", "doc", buildOLE(stream("__properties_version1.0", nil)), mismatch},
		{"empty root", "doc", buildOLE(), mismatch},
		{"signature alone", "doc", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), mismatch},
		{"rtf named doc", "doc", []byte(`{\rtf1\ansi deed}`), mismatch},
		{"html named xls", "xls", []byte("<html><table><tr><td>1</table>"), mismatch},
		{"docx named doc", "doc", samplesByExtension()["docx"], mismatch},
		{"doc named docx", "docx", buildOLE(word), mismatch},
	})
}

func TestPasswords(t *testing.T) {
	const locked = document.ReasonDocumentPassword
	begin, end := record{0x0809, bof}, record{0x000A, nil}
	pass := record{0x002F, make([]byte, 54)}
	encrypted := buildOLE(stream("EncryptionInfo", nil), stream("EncryptedPackage", nil))
	slides := stream("PowerPoint Document", nil)
	checkInspections(t, []row{
		{"word encrypted", "doc", buildOLE(stream("WordDocument", fib(0x0100))), locked},
		{"word obfuscated", "doc", buildOLE(stream("WordDocument", fib(0x8100))), locked},
		{"word of other flags", "doc", buildOLE(stream("WordDocument", fib(0xFEFF))), ""},
		{"word stream empty", "doc", buildOLE(oleEntry{name: "WordDocument"}), ""},
		{"workbook", "xls", buildOLE(stream("Workbook", biff(begin, pass))), locked},
		{"workbook with write protection", "xls", buildOLE(stream("Workbook", biff(begin, record{0x0086, nil}, pass))), locked},
		{"book", "xls", buildOLE(stream("Book", biff(begin, pass))), locked},
		{"pass in a later substream", "xls", buildOLE(stream("Workbook", biff(begin, end, begin, pass))), ""},
		{"record longer than the stream", "xls", buildOLE(stream("Workbook", biff(begin, record{0x0086, make([]byte, 9000)}, pass))), ""},
		{"not a workbook stream", "xls", buildOLE(stream("Workbook", biff(pass))), ""},
		{"slides by token", "ppt", buildOLE(slides, stream("Current User", currentUser(0xF3D1C4DF))), locked},
		{"slides by summary", "ppt", buildOLE(slides, stream("EncryptedSummary", nil)), locked},
		{"package as docx", "docx", encrypted, locked},
		{"package as xlsx", "xlsx", encrypted, locked},
		{"package as pptx", "pptx", encrypted, locked},
		{"package in upper case", "docx", buildOLE(stream("ENCRYPTEDPACKAGE", nil)), locked},
		{"package as doc", "doc", encrypted, mismatch},
		{"package below the root", "docx", buildOLE(storage("x", stream("EncryptedPackage", nil))), mismatch},
	})
}

// TestHostileOLE checks that Inspect returns a report, not an error, for damaged and malicious
// compound files.
func TestHostileOLE(t *testing.T) {
	le := binary.LittleEndian
	good := func() []byte { return buildOLE(stream("WordDocument", fib(0))) }
	patch := func(at int, value uint32) []byte {
		p := good()
		le.PutUint32(p[at:], value)
		return p
	}
	const directory = 3 * 512 // the header and two FAT sectors precede the directory
	short := buildOLE(oleEntry{name: "WordDocument"})
	circle := good()
	le.PutUint32(circle[512+2*4:], 2)
	checkInspections(t, []row{
		{"sectors of another size", "doc", patch(30, 0x0006_000A), mismatch},
		{"too many FAT sectors", "doc", patch(44, 1<<30), mismatch},
		{"too many mini FAT sectors", "doc", patch(64, 1<<30), mismatch},
		{"too many DIFAT sectors", "doc", patch(72, 1<<30), mismatch},
		{"directory beyond the end", "doc", patch(48, 1<<20), mismatch},
		{"directory in a circle", "doc", circle, mismatch},
		{"root is its own child", "doc", patch(directory+76, 0), mismatch},
		{"child without entry", "doc", patch(directory+76, 77), mismatch},
		{"stream beyond the end", "doc", patch(directory+128+116, 1<<20), ""},
		{"last sector short", "doc", good()[:len(good())-300], ""},
		{"last sector of the directory short", "doc", short[:len(short)-200], ""},
		{"cut in the directory", "doc", good()[:directory+100], mismatch},
	})
}

func manyEntries(n int) (entries []oleEntry) {
	for i := range n {
		entries = append(entries, oleEntry{name: string(rune('a'+i%26)) + "x"})
	}
	return entries
}
