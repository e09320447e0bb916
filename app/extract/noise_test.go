package extract_test

import (
	"math/rand/v2"
	"strings"

	"deedkeep/app/extract"
)

// misreadings are what OCR makes of letters, the likely ones first.
var misreadings = map[rune][]string{
	'0': {"O", "o", "O", "6"}, '1': {"l", "I", "|", "7"}, '2': {"Z", "z", "7"}, '3': {"8", "5"}, '4': {"A", "1"}, '5': {"S",
		"s", "6"}, '6': {"5", "8", "G"},
	'7': {"1", "?"}, '8': {"B", "3", "&"}, '9': {"g", "4"}, 'O': {"0", "Q"}, 'o': {"c", "0", "e"}, 'I': {"l", "1", "|"},
	'l': {"1", "I", "|"}, 'i': {"l", "1", "j"},
	'S': {"5", "$"}, 'B': {"8", "E"}, 'e': {"c", "o"}, 'c': {"e", "o"}, 'a': {"o", "s"}, 'h': {"b", "li"}, 'b': {"h", "6"},
	'm': {"rn", "nn"},
	'n': {"u", "ri"}, 'u': {"n", "v"}, 'E': {"F", "B"}, 'R': {"K", "H"}, 'H': {"II", "N"}, 'N': {"H", "M"}, 'G': {"C", "6"},
	'C': {"G", "("}, 'D': {"O", "P"},
	't': {"f", "l"}, 'f': {"t", "i"}, 'T': {"7", "I"}, '.': {",", ""}, ',': {".", ""}, ':': {";", "", "."}, ';': {":"},
	'$': {"S", "§"}, '-': {"~", " "}, '\'': {"", "`"},
	'/': {"l", "1"}, 'w': {"vv"}, 'Y': {"V"}, 'P': {"F"}, 'K': {"R"}, 'L': {"I"}, 'A': {"4"}, '#': {"f"}, '"': {"'", "*"},
}

// read returns what OCR or the text layer of a document gives for its text: 4 of 10 documents have a
// text layer, 3 are good scans, 2 are fair scans, and 1 is a poor one.
func read(d document, seed uint64) []extract.Page {
	r := rand.New(rand.NewPCG(seed, 77))
	switch n := r.IntN(10); {
	case n < 4:
		return []extract.Page{extract.PlainText(d.text)}
	case n < 7:
		return []extract.Page{scan(r, d.text, 0.0015, 95)}
	case n < 9:
		return []extract.Page{scan(r, d.text, 0.005, 92)}
	}
	return []extract.Page{scan(r, d.text, 0.015, 86)}
}

// scan misreads letters at a rate and damages lines. confidence is that of words that are right.
func scan(r *rand.Rand, text string, rate float64, confidence int) (page extract.Page) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if r.Float64() < rate*4 { // specks, ends of underlines, and edges of stamps
			page.Lines = append(page.Lines, extract.Line{Text: pick(r, []string{"| .", "~", "_ ,", "i", ". :"}), Confidence: []int{31, 24}})
		}
		read := extract.Line{}
		words := strings.Fields(line)
		for n, word := range words {
			seen := misread(r, word, rate)
			if seen == "" {
				continue
			}
			sure := min(97, max(10, confidence+int(r.NormFloat64()*4)))
			if seen != word && r.IntN(100) < 80 {
				sure = 15 + r.IntN(65)
			}
			if r.Float64() < rate/2 && n > 0 && len(read.Confidence) > 0 { // a lost space
				read.Text += seen
				read.Confidence[len(read.Confidence)-1] = min(sure, read.Confidence[len(read.Confidence)-1])
				continue
			}
			if r.Float64() < rate/2 && len(read.Confidence) > 0 { // a broken line
				page.Lines = append(page.Lines, read)
				read = extract.Line{}
			}
			if read.Text != "" {
				read.Text += " "
			}
			read.Text += seen
			for range strings.Fields(seen) {
				read.Confidence = append(read.Confidence, sure)
			}
		}
		page.Lines = append(page.Lines, read)
	}
	return page
}

// misread returns a word as OCR reads it. A digit is rarely taken for another digit.
func misread(r *rand.Rand, word string, rate float64) string {
	var b strings.Builder
	for _, letter := range word {
		wrong := misreadings[letter]
		likelihood := rate
		if letter == '.' || letter == ',' || letter == ':' {
			likelihood *= 2
		}
		if len(wrong) == 0 || r.Float64() >= likelihood {
			b.WriteRune(letter)
			continue
		}
		seen := wrong[min(r.IntN(len(wrong)), r.IntN(len(wrong)))]
		if isDigit(seen) && '0' <= letter && letter <= '9' && r.IntN(3) > 0 {
			seen = wrong[0]
			if isDigit(seen) {
				seen = string(letter)
			}
		}
		b.WriteString(seen)
	}
	return strings.TrimSpace(b.String())
}

func isDigit(s string) bool { return len(s) == 1 && '0' <= s[0] && s[0] <= '9' }
