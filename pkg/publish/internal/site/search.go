package site

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// The search index is divided into small files, so that a browser fetches only those that a query needs:
//
//	search/index.json       how the rest is cut, and which words are left out
//	search/terms/KEY.json   the words that begin with KEY, each with the packs that have it
//	search/packs/N.json     what is shown of packs N*chunk to (N+1)*chunk-1
//
// A pack is identified by a number. Packs with more dependents have lower numbers, so that they win ties. In the term
// lists, the number is multiplied by 8 and the word's weight for the pack is added.
const (
	chunk     = 50   // packs in one file
	mostPacks = 3000 // packs of one word: those with the highest weights
	maxTerms  = 400  // words of one pack
	maxTerm   = 40   // letters of one word
)

// The weights of a word, by the field that contains it.
const (
	inOther       = 1 // in the description of a skill
	inDescription = 2
	inSkill       = 4 // in the name of a skill
	inTag         = 5
	inOwner       = 3
	inName        = 6
	isName        = 7
)

// stop are words that occur in every text.
var stop = []string{
	"a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "in", "is", "it", "its", "of", "on", "or", "that",
	"the", "this", "to", "use",
	"used", "using", "when", "with", "without", "you", "your",
}

type searchIndex struct {
	Packs int      `json:"packs"`
	Chunk int      `json:"chunk"`
	Stop  []string `json:"stop"`
	Keys  []string `json:"keys"` // lengths of the keys of term files
}

type searchPack struct {
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	Description string   `json:"description,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Skills      int      `json:"skills"`
	Deprecated  bool     `json:"deprecated,omitempty"`
}

// search writes the search index.
func (s *Site) search(w Write) error {
	order := make([]int, len(s.packs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(len(s.dependents[s.packs[b].ID]), len(s.dependents[s.packs[a].ID]))
	})
	files := map[string]map[string][]int{}
	entries := make([]searchPack, len(order))
	for n, i := range order {
		it := s.item(i)
		entries[n] = searchPack{
			it.ID.String(), it.Version, short(it.Description, 160),
			s.packs[i].Tags[:min(len(s.packs[i].Tags), 5)], it.Skills, it.Deprecated,
		}
		for term, weight := range s.packs[i].terms() {
			key := termKey(term)
			if files[key] == nil {
				files[key] = map[string][]int{}
			}
			files[key][term] = append(files[key][term], n*8+weight)
		}
	}
	index := searchIndex{Packs: len(order), Chunk: chunk, Stop: stop, Keys: slices.Sorted(maps.Keys(files))}
	if index.Keys == nil {
		index.Keys = []string{}
	}
	if err := writeJSON(w, "search/index.json", index); err != nil {
		return err
	}
	for n := 0; n*chunk < len(entries); n++ {
		if err := writeJSON(w, fmt.Sprintf("search/packs/%d.json", n),
			entries[n*chunk:min((n+1)*chunk, len(entries))]); err != nil {
			return err
		}
	}
	for _, key := range index.Keys {
		for term, packs := range files[key] {
			files[key][term] = best(packs)
		}
		if err := writeJSON(w, "search/terms/"+key+".json", files[key]); err != nil {
			return err
		}
	}
	return nil
}

// best returns the packs with the highest weights for a word, in order of their numbers.
func best(packs []int) []int {
	if len(packs) <= mostPacks {
		return packs
	}
	slices.SortStableFunc(packs, func(a, b int) int { return cmp.Compare(b%8, a%8) })
	packs = packs[:mostPacks]
	slices.Sort(packs)
	return packs
}

// terms returns the words of a pack with their weights.
func (p *Pack) terms() map[string]int {
	terms := map[string]int{}
	add := func(text string, weight int) {
		for _, word := range words(text) {
			if _, known := terms[word]; known || len(terms) < maxTerms {
				terms[word] = max(terms[word], weight)
			}
		}
	}
	if strings.Contains(p.ID.Name, "-") {
		add(p.ID.Name, inName)
	} else {
		add(p.ID.Name, isName)
	}
	add(p.ID.Owner, inOwner)
	for _, t := range p.Tags {
		add(t, inTag)
	}
	for _, sk := range p.Skills {
		add(sk.Name, inSkill)
	}
	add(short(p.about(), 1000), inDescription)
	for _, sk := range p.Skills {
		add(short(sk.Description, 1000), inOther)
	}
	return terms
}

// words returns the normalized words of a text, without diacritics and case. In scripts without spaces, each character
// is a word. The browser's script does the same to queries.
func words(text string) []string {
	text = strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.M, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(text)))
	var out []string
	add := func(word string) {
		if n := len([]rune(word)); n > 0 && n <= maxTerm && !slices.Contains(stop, word) {
			out = append(out, word)
		}
	}
	for field := range strings.FieldsFuncSeq(text,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		start := 0
		for i, r := range field {
			if dense(r) {
				add(field[start:i])
				add(string(r))
				start = i + len(string(r))
			}
		}
		add(field[start:])
	}
	return out
}

// dense reports whether a character belongs to a script without spaces. The normal form decomposes Hangul.
func dense(r rune) bool {
	return r >= 0x2e80 && r < 0xac00 || r >= 0xf900 && r < 0xfb00 || r >= 0x20000
}

// termKey returns the name of the file that contains a word: its first two letters, or the number of its first
// character if these are not ASCII.
func termKey(term string) string {
	if len(term) > 0 && isWordByte(term[0]) {
		if len(term) > 1 && isWordByte(term[1]) {
			return term[:2]
		}
		return term[:1]
	}
	for _, r := range term {
		return fmt.Sprintf("u-%x", r)
	}
	return "u"
}

func isWordByte(b byte) bool { return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' }

func writeJSON(w Write, path string, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	return w(path, buf.Bytes())
}
