// Package query implements the query language of the search: it parses the text a user types,
// turns documents into terms and queries into nodes of app/search/index, and highlights matches.
//
// # Words
//
// A word is a sequence of letters or of digits, without case and accents (analyzer.go):
// Bk1022-Pg311 is bk 1022 pg 311, and O'Brien is obrien. If there are several ways to write
// something, the index contains all of them at the same position:
//
//	12-3-045, 12 3 045     also 123045
//	(985) 555-0142         also 9855550142
//	convey-⏎ance           also conveyance
//	Smith-Jones            also smithjones
//	L.L.C., J. P., a/k/a   also llc, jp, aka
//	Bk, Street             also book, st
//	0883                   also 883
//	B-119.04               also b11904
//
// SW¼ is sw 1 4. Names may be written as one word or as several. Le Blanc is also leblanc, even
// with a line break between the words, and de la Croix is also dela, lacroix, and delacroix. In
// Names and in queries, D and any word of two or three letters are also joined with the following
// word, except for words that are never part of a name (name.go). There are no stop words. A phrase
// never matches across two fields or two pages.
//
// # Terms
//
// If you change the terms or their spelling, increase checkpointFormat (app/search) so that
// existing installations rebuild the index.
//
// A term has at most 64 bytes: one byte for its namespace, followed by the word. Longer words are
// truncated. Longer values that must remain distinct end with a hash (term.go).
//
//	w word      of the text, with positions
//	f word      of Numbers, Names, and Fields, with positions
//	h prefix    of a word of Numbers and Names, 2 to 12 characters, or 1 digit; not of the first
//	            word of a number
//	x number    a complete value of Numbers without punctuation and without words for its type:
//	            123045; for Bk 1022 Pg 311 both "1022 311" and "book 1022311"
//	g prefix    of that number, 2 to 12 characters, or 1 digit; for Bk 1022 Pg 311 also of 1022311;
//	            and with its punctuation: 12-3, 12-3-0
//	e number    as written, without case; for book and page the register and the digits:
//	            deeds book 1022 311
//	z number    with one hyphen between its parts, which have no leading zeros: 12-3-45
//	b prefix    of a word of Fields and of the text, 2 to 6 characters; of digits: 1 to 6 in Fields,
//	            4 to 6 in the text
//	t id (8)    template
//	d id (8)    document type
//	p word      of the name of a party, with the number of the party as position
//	c, s, u     county, state, status, normalized by model.FoldCounty, FoldState, and Fold as in
//	            all comparisons of records
//
// The kind of a document is its group in the index, its day of creation is its date, and its key
// consists of the kind (1 byte) and the ID (7 bytes).
//
// # Queries
//
// A document must contain all words of a query, in any order. Quoted words must appear as a phrase,
// as must words without a blank between them (Smith-Jones).
//
// Numbers: Digits with blanks between them may be one number. Digits with punctuation between them
// are one number (387,500), whose parts must appear together. The same applies to adjacent single
// characters: A 1 is A-1, and T&S is T & S. However, if the query has other words, letters
// separated by blanks may appear anywhere (apt b n main). Such hits rank below those with adjacent
// letters. A number of one part also matches numbers with leading zeros, but typed zeros must
// match: 417 finds 0417, but 0417 does not find 417. In a number of several parts, or after book or
// page, one or two leading zeros are ignored. In Numbers, all leading zeros are ignored.
//
// Prefixes: The last word is a prefix unless it is followed by a blank or a quote. In a phrase that
// is still being typed, the last word is replaced by the 16 most frequent of the first 512 words
// with that prefix. Those hits are followed by documents that contain any word with that prefix
// anywhere.
//
// Parties: All words of Query.Party must be in the name of one party, in any order. A name that is
// written as one word also matches one that is written as several, and vice versa. Nothing else is
// tolerated, so the hits are exact, and they are in descending order of creation unless there is a
// text. An index.Together compares the positions of the words, so that the cost depends only on the
// instruments that have all words in any of their parties.
//
// Later stages: If these hits don't fill a page, further hits are appended. The first ones lack a
// single letter at the end of the query, which is probably the start of a word, or the words book
// and page before a number (Result.Relaxed). They are followed by hits with one typo in a
// word of at least four letters. If the query has other words, a letter may also be missing from a
// word of three letters (Result.Fuzzy). Typos in a prefix are allowed only if no document
// contains the prefix as a word. If the prefix has up to four letters, they are allowed only if no
// word starts with it. Words for the type of a number (order no. 2026-0117) are always optional.
// Other words and digits never are.
//
// Counties and states: The queries Wexcombe County and Wexcombe Parish match a record whose county
// is Wexcombe even if it does not contain the word County or Parish. Louisiana matches a record
// whose state is LA. Virginia, Georgia, and Washington are also personal names, so they match only
// as words. A word that starts with Mac also matches with Mc, and vice versa.
//
// Book and page: A query that consists only of a book and page is one number, regardless of the
// name of the book (model.ParseBookPage). COB 1022 Pg 312 also finds Conveyance Book 1022, folio
// 312, and OR 1022/312, but hits with the same register or without a register come first. In texts,
// a book and page is found if there is a word for a page between the two numbers, or if they are
// adjacent and both have at least three digits.
//
// Dates: A date is found in any notation (date.go). Hits with the typed notation come first. For
// example, each of 3/14/2026, 3-14-2026, 3/14/26, 2026-03-14, Mar 14, 2026, March 14th 2026, and 14
// March 2026 finds all of these except 3/14/26, and also the 14th day of March, 2026, and 20260314.
// Two-digit years stand for 1930 to 2029. Only the first two dates of a query are recognized, and
// no dates within quotes. If more than a million texts contain the month, the day, and the year,
// only March 14, 2026, the typed notation, and digits are searched for in texts.
//
// Limits: No query iterates over an unlimited number of terms. Prefixes are terms themselves. For a
// prefix that is longer than those in the index, the first 64 terms with it are used. If a number
// or name has more of them, everything with the same first twelve characters is added with a lower
// rank. Possible corrections of a typo are generated from the word and looked up. A query
// of only two or three letters finds words of Numbers and Names with that prefix. In other fields,
// it finds the 64 most frequent of the first 512 words with that prefix, until the total exceeds
// 500,000 records. It is not matched in texts because most of them would match. A query has at most
// 1,024 bytes, Options.MaxWords words, and 1,024 nodes plus 32 per word, and ends after
// Options.Deadline.
//
// # Ranking
//
// The score of a document is the sum of the scores of the query words, each of which is the best of
// its matches. For equal scores, abstracts come before orders, orders before documents, and documents
// before instruments. Within a kind, the newest come first. These are the scores of one word, or of
// the complete query taken as a number:
//
//	200,000  the query is a value of Numbers with the same punctuation, or a book and page of the same
//	         register or of none
//	100,000  the same with other punctuation
//	 90,000  the same with other leading zeros; 20 while zeros are being typed
//	  tenth  of these if one of several words is a value of Numbers
//	  1,000  the query is a book and page that the text or a field states in other words
//	     75  a date in another notation is in a field
//	     40  the word is in a field; for a phrase 40 per word
//	     45  the query is two digits and a prefix of a value of Numbers
//	     35  prefix of a value of Numbers with the same punctuation; 35 per word typed
//	     30  the same with other punctuation
//	     25  prefix of a word of Numbers or Names; for a phrase 25 per word
//	0.5 BM25 the word is in the text; a date counts as one word, plus 10, or plus 20 as typed
//	    0.1  prefix of a word of the text or of Fields
//
// If the words are adjacent in the typed order, a field adds 10 and the text adds their BM25 score
// again, provided that the rarest word is in at most 10,000 documents. This only improves the order
// of the hits, so when time is short, it is skipped for the rest of the documents. A typo
// halves the score of a word.
//
// # Highlighting
//
// A Highlighter highlights at least one match in each document that Search finds: a word, a prefix,
// a number, or a word with a typo. If several spellings match one word of the query, the
// one closest to the typed text is highlighted. A single character is highlighted only next to
// another match, and a word like "of" only if there is no other match.
//
// # Out of scope
//
// The index does not store texts. Snippets are created from the text that the caller passes to a
// Highlighter. Only the first 4,000,000 words of a document are indexed, and fewer if they take 32
// MB in a batch, as several hundred thousand different words do. If a text is truncated, the
// document is logged. Phrases use the first 4,096 positions of a word in a document. A damaged
// index is not repaired. Instead, the caller deletes its directory and rebuilds it.
//
// # Why not a library
//
// A library could replace app/search/index but not this package. .ci/search-bench compares the index with
// bleve and SQLite FTS5, and .github/decisions/004-search-index.md says why it was kept.
package query
