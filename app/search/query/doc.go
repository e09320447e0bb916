// Package query implements the query language of the search: it parses the text a user types,
// turns documents into terms and queries into nodes of app/search/index, and highlights matches.
//
// # Words
//
// A word is a sequence of letters or of digits, without case and accents (analyzer.go):
// Bk1022-Pg311 is bk 1022 pg 311, and O'Brien is obrien. If something has several spellings, the
// index has all of them at the same position:
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
// SW¼ is sw 1 4. Names may be written as one word or as several: Le Blanc is also leblanc, even if
// a line ends between them, and de la Croix is also dela, lacroix, and delacroix. In Names and in
// queries, the same applies to D and the following word and to every word of at most three letters,
// except for words that are never part of a name (name.go). There are no stop words. No phrase
// spans the gap between two fields or two pages.
//
// # Terms
//
// A change to the terms or to their spelling requires a new checkpointFormat (app/search), which makes
// existing installations rebuild the index.
//
// A term has at most 64 bytes: one byte for its namespace and the word, truncated. A value that must
// be distinguished from every other ends with a hash if it is too long (term.go).
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
//	c, s, u     county, state, status, normalized by model.FoldCounty, FoldState, and Fold as in
//	            all comparisons of records
//
// The kind of a document is its group in the index, its day of creation is its date, and its key
// consists of the kind (1 byte) and the ID (7 bytes).
//
// # Queries
//
// A document must contain all words of a query, in any place. Quoted words must appear as a
// phrase, and so must words without a blank between them (Smith-Jones).
//
// Numbers: Digits with blanks between them may be one number. Digits with punctuation between them
// are one number (387,500), and its parts must appear together. The same applies to
// single characters next to each other: A 1 is A-1, and T&S is T & S. However, letters separated by
// blanks may appear anywhere if the query has other words (apt b n main); such hits are ranked after
// those that have the letters together. A number of one part also matches with leading zeros, but
// typed zeros must match: 417 finds 0417, but 0417 does not find 417. In a number of several parts and
// after book or page, one or two leading zeros don't matter, and in a value of Numbers no leading zeros
// matter.
//
// Prefixes: The last word is a prefix unless it is followed by a blank or a quote. The last word of a
// phrase that is still being typed is replaced by the 16 most frequent of the first 512 words with that
// prefix; after those hits come documents in which any word with that prefix appears anywhere.
//
// Later stages: If these hits don't fill a page, further hits are appended. First, those without a
// last word of one letter, which the user has probably not completed, and those without book and
// page before a number (Result.Relaxed). Then those with one typing error in a word of at least four
// letters, or with one letter missing from a word of three letters if the query has other words
// (Result.Fuzzy). A prefix is matched with a typing error only if the word itself occurs nowhere, and
// one of up to four letters only if no word starts with it. Words for the type of a number (order no.
// 2026-0117) are always optional; no other word is, and no digit.
//
// Counties and states: A record of the county Wexcombe matches Wexcombe County and Wexcombe Parish
// without the word County or Parish, and a record of LA matches Louisiana. Virginia, Georgia, and
// Washington are names of people too, so they are only words. A word that starts with Mac also
// matches with Mc, and vice versa.
//
// Book and page: A query that is a book and page and nothing else is one number, whatever the book is
// called (model.ParseBookPage). COB 1022 Pg 312 also finds Conveyance Book 1022, folio 312, and
// OR 1022/312, but hits of the same register or of none come first. In texts it is found if there is
// a word for a page between the two numbers, or if both have at least three digits and are adjacent.
//
// Dates: A date is found in any notation (date.go); hits with the notation typed come first. So each
// of 3/14/2026, 3-14-2026, 3/14/26, 2026-03-14, Mar 14, 2026, March 14th 2026, and 14 March 2026 finds
// all of these except the one with the short year, and also the 14th day of March, 2026, and 20260314.
// A year of two digits is from 1930 to 2029. This applies to the first two dates of a query and not
// within quotes. If more than a million texts contain the month, the day, and the year, only March 14,
// 2026, the typed notation, and digits are searched for in texts.
//
// Limits: No query iterates over an unlimited number of terms. Prefixes are terms themselves. For a
// longer prefix the first 64 terms are used; if there are more for a number or name, everything with
// the same first twelve characters is added with a lower rank. Typing errors are generated
// from the word and looked up. A query of only two or three letters finds words of numbers and names
// with this prefix, and of other fields the 64 most frequent of the first 512 words with it, as long
// as all of these are in at most 500,000 records; it is not matched in texts, because most
// texts would match. A query has at most 1,024 bytes, Options.MaxWords words, and 1,024 nodes plus
// 32 per word, and ends after Options.Deadline.
//
// # Ranking
//
// Each word counts with the best of its matches, and the words are added. Among equal scores,
// abstracts come before orders and orders before documents; within a kind the newest come first. For
// one word, or for the complete query taken as a number:
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
// Adjacent words in the order typed count 10 more in a field and their BM25 once more in the text, if
// the rarest of them is in at most 10,000 documents. Because this only improves the order, it is
// skipped for the rest of the documents when time is short. A typing error halves the score of a word.
//
// # Highlighting
//
// A Highlighter highlights something in each document that Search finds: whatever matched a word, a
// prefix, a number, or a word with a typing error. If several things match one word, the one closest
// to what was typed is highlighted. A single character is highlighted only next to another match, and
// a word like "of" only if there is no other match.
//
// # Out of scope
//
// Storing texts: snippets are made from the text that the caller provides (Highlighter). Words after
// the first 4,000,000 of a document are not indexed, nor are words after those that take 32 MB of a
// batch, as a list of several hundred thousand different words does; the log names the document.
// Phrases use the first 4,096 positions of a word in a document. A damaged index is not repaired: the
// caller deletes its directory and rebuilds it.
//
// # Why not a library
//
// Measured with a fifth of the texts that this engine is made for: bleve 2.6.1 needed 1,010 MB of
// memory to index them and 0.6 to 1.7 s (95th percentile) for a phrase of common words. SQLite FTS5
// needed 0.25 s for a common word sorted by relevance. This engine, with all of the texts: 208 MB,
// 0.11 s for such a phrase, and 0.09 s for such a word.
package query
