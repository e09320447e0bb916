// Package query finds documents by what somebody types: it knows the language, and
// app/search/index the lists. It makes terms of documents, nodes of queries, and says what
// to mark in a text.
//
// # Words
//
// A word is letters or digits, without case and accents (token.go): Bk1022-Pg311 is
// bk 1022 pg 311, and O'Brien is obrien. What has several spellings has all of them in
// the index, at one position: 12-3-045 and 12 3 045 also as 123045, (985) 555-0142 also
// as 9855550142, convey-⏎ance also as conveyance, Smith-Jones also as smithjones, L.L.C.
// also as llc, J. P. also as jp, a/k/a also as aka, Bk also as book, Street also as st,
// 0883 also as 883, B-119.04 also as b11904. SW¼ is sw 1 4. Names are written as one word or as several: Le
// Blanc is also leblanc, at the end of a line too, and de la Croix dela, lacroix and
// delacroix; in Names, and in queries, so is D with the next word, and every word of at
// most three letters, but for those that are no half of a name (name.go). There are no
// stop words.
// Between fields and between pages is a gap that no phrase crosses.
//
// # Terms
//
// Whoever changes them, or how they are spelled, raises indexForm (app/search).
//
// A term is at most 64 bytes: a byte for what it is, and the word, cut. A value that
// must differ from every other ends with a hash where it is longer (term.go).
//
//	w word      of the text, with its positions
//	f word      of Numbers, Names and Fields, with its positions
//	h start     of a word of Numbers and Names, 2 to 12 characters, or 1 digit; without the first word of a number
//	x number    all of one of Numbers, without punctuation and without what says of which kind it is: 123045; 1022 311 and book 1022311 for Bk 1022 Pg 311
//	g start     of that, 2 to 12 characters, or 1 digit; of Bk 1022 Pg 311 also 1022311; and as it is written: 12-3, 12-3-0
//	e number    as it is written, without case; of book and page the register and the digits: deeds book 1022 311
//	z number    with one hyphen between its parts, and no zeros before them: 12-3-45
//	b start     of a word of Fields and of the text, 2 to 6 characters; digits: 1 to 6 in Fields, 4 to 6 in the text
//	t id (8)    template
//	c, s, u     county, state, status: as title.FoldCounty, FoldState and Fold have them, by which records are compared
//
// A document's kind is the engine's group, its day the engine's date, and its key is the
// kind (1 byte) and the ID (7).
//
// # Queries
//
// Several words are all of them, anywhere in the document; what stands in quotes is
// found as it stands, and so is what has no blank in it (Smith-Jones). Digits with
// blanks between them may be one number; digits with punctuation are one (387,500), and
// its parts stand together or not at all. So do single characters next to each other: A 1
// is A-1, and T&S is T & S; but behind those that have them together, letters that blanks
// part may stand anywhere beside other words: apt b n main. Zeros before a number that stands alone are there or they are
// not: 417 is 0417 too, but 0417 is no 417; in a number of several parts, and behind book
// and page, one or two are no matter, and of one of Numbers none is. The last word is a beginning, unless a blank
// or a quote is behind it; of a phrase still open too, of the 16 commonest among the
// first 512 words that begin so, and behind those of any that stands anywhere. Where all
// of that leaves a page short, hits are put behind it: those without a last word of one
// letter, which somebody is about to type on, and without book and page before a number
// (Answer.Loose); then those with one typing error in a word of four letters or more, or
// one letter lost of three where there are other words (Answer.Fuzzy). What begins with
// a typing error is looked for only where the word stands nowhere as it is, and a
// beginning of four letters or fewer has none where anything begins so. Words that say
// what kind of number is behind them (order no. 2026-0117) may be missing anyway; no
// other word is, and no digit. What is of the county of Wexcombe need not have the word
// of Wexcombe County, or Parish, and records of LA need not have Louisiana; Virginia,
// Georgia and Washington are names of people too, and are looked for as words. What
// begins with Mac is looked for with Mc, and the other way around.
//
// A text that is nothing but a book and page is one number, whatever the book is called
// (title.ReferenceOf): COB 1022 Pg 312 is Conveyance Book 1022, folio 312, and OR 1022/312
// too, behind those of the same register and those of none. It is found in texts where
// its numbers have a word for pages between them, or three digits each and nothing.
//
// A day is found in any notation of it (date.go), behind those that have it as typed:
// whoever types 3/14/2026, 3-14-2026, 3/14/26, 2026-03-14, Mar 14, 2026, March 14th 2026 or 14
// March 2026 finds all of these but that with two digits, and the 14th day of March,
// 2026, and 20260314. Two digits are a year from 1930 to 2029. That is for the first two
// days of a query, and for none in quotes. Where more than a million texts have its
// month, day and year, only March 14, 2026 and what was typed are looked for in them,
// and digits.
//
// No query walks over terms without a bound: beginnings are terms themselves; of
// longer ones the first 64 terms are taken, and of numbers and names, if there are
// more, all that begin with the first twelve characters behind them; typing errors are
// made from the word and looked up. Two or three letters alone begin words of numbers and
// names, and of other fields the 64 commonest of the first 512 that begin so, as far as
// all of these have no more than 500,000 records; in the text they begin nothing, since
// they do so in most. A query has at most 1,024 bytes, Options.MaxWords
// words, and 1,024 nodes and 32 for each word, and ends after Options.Deadline.
//
// # Ranking
//
// Each word is worth the most of what holds; words add up. Among equals
// abstracts are before orders and these before documents, and of one kind the later one
// first. For one word, or all that was typed taken as a number:
//
//	200,000  all that was typed is one of Numbers, with the same punctuation; a book and page of the same register, or of none
//	100,000  with another
//	 90,000  but for zeros before its parts; 20 while zeros are being typed
//	  tenth  of these: a word of several is
//	  1,000  all that was typed is a book and page, and the text or a field has it in other words
//	     75  it is a date in another notation, in a field
//	     40  it is a word of a field; 40 for each word of a phrase
//	     45  it is two digits and all that was typed, and begins one of Numbers
//	     35  it begins one of Numbers, with the same punctuation; 35 for each word typed
//	     30  with another
//	     25  it begins a word of Numbers or Names; 25 for each word of a phrase
//	0.5 BM25 it is in the text; of a date as a whole and 10 more, 20 as it is typed
//	    0.1  it begins a word of the text or of Fields
//
// Words next to each other, as typed, are worth 10 more in a field and their BM25 once
// more in the text, where no more than 10,000 documents have the rarest of them, and of
// those as many as there is time for: it is the order only that is better for it. A
// typing error halves what a word is worth.
//
// # Marks
//
// A Marker marks something in each document that Search finds: whatever a word, a
// beginning, a number or a typing error is found by. Of several things that one word is
// found by, that which is nearest to what was typed; a single character only beside
// another mark, and a word like of only where there is no other.
//
// # Refuses
//
// To keep texts: snippets are made from the text that the caller has (Marker). To find
// what stands behind the first 4,000,000 words of a document, or behind those that take
// 32 MB of a batch, as a list of some hundred thousand different words does: the log
// names the document. To find phrases by what stands behind the first 4,096 places of
// one word in one document. To mend an index that is damaged: the caller removes its
// folder and begins anew.
//
// # An engine of our own
//
// Measured on a fifth of the texts it is made for: bleve 2.6.1 took 1,010 MB to index
// and 0.6 to 1.7 s for a phrase of common words (p95), SQLite's FTS5 0.25 s for a common
// word by relevance. This one, on all of them: 208 MB,
// 0.09 s and, for such a phrase, 0.11 s.
package query
