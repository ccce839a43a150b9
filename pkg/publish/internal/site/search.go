package site

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/bm25"
	"github.com/skillpm/skillpm/pkg/internal/packsearch"
)

// The search index is what "skillpm search" builds of the same packs, divided into small files, so that a browser
// fetches only those that a query needs:
//
//	search/index.json       how many packs there are, how the rest is divided, synonyms, and words of any request
//	search/terms/KEY.json   the words that begin with KEY: how many packs have it, and which, with its impact in each,
//	                        as base64; or the word whose packs count
//	search/typos.json       how many packs have each word
//	search/names.json       the name of the first pack of each file of packs
//	search/packs/N.json     what is shown of packs N*chunk to (N+1)*chunk-1
//
// A pack is identified by its number in the order of names. assets/search.js reads these files.
const chunk = 50 // packs in one file

type searchIndex struct {
	Packs  int         `json:"packs"`
	Chunk  int         `json:"chunk"`
	Keys   []string    `json:"keys"`   // names of the files of words
	Copies map[int]int `json:"copies"` // for packs that copy another one: the number of the original

	Synonyms map[string][]string `json:"synonyms"` // by the stem of a word
	Requests []string            `json:"requests"` // words that are not searched for if there are others
}

type searchPack struct {
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	Description string   `json:"description,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Skills      int      `json:"skills"`
	Deprecated  bool     `json:"deprecated,omitempty"`
}

// searchDocument returns a pack as "skillpm search" reads it from the catalog of the index.
func (p *Pack) searchDocument() packsearch.Pack {
	v := p.displayed()
	d := packsearch.Pack{
		Name: p.ID.String(), Version: v.Version, Description: p.Description, License: p.License, Published: v.Published,
		Deprecated: p.Deprecated, Tags: slices.Clone(p.Tags),
	}
	for _, sk := range p.Skills {
		d.Skills = append(d.Skills, packsearch.Skill{Name: sk.Name, Description: sk.Description})
	}
	return d
}

// search writes the search index. It leaves out packs without an available version, as the catalog does.
func (s *Site) search(w Write) error {
	var order []int // packs by their number in the search index
	numbers := map[int]int{}
	for i := range s.packs {
		if s.packs[i].displayed().Yanked == "" {
			numbers[i] = len(order)
			order = append(order, i)
		}
	}
	x, err := packsearch.New(func(yield func(packsearch.Pack, error) bool) {
		for _, i := range order {
			if !yield(s.documents[i], nil) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	index := searchIndex{Packs: len(order), Chunk: chunk, Copies: map[int]int{}, Synonyms: bm25.Synonyms(), Requests: bm25.RequestWords()}
	for i, of := range s.originals {
		if _, found := numbers[i]; of >= 0 && found {
			index.Copies[numbers[i]] = numbers[of]
		}
	}
	if index.Keys, err = writeTerms(x.Index, w); err != nil {
		return err
	}
	return errors.Join(writeJSON(w, "search/index.json", index), s.writeSearchPacks(order, w))
}

// writeTerms writes the words of an index, and returns the names of the files.
func writeTerms(x *bm25.Index, w Write) ([]string, error) {
	files, counts := map[string]map[string]any{}, map[string]int{}
	err := x.Dictionary(func(word bm25.Word) error {
		key := termKey(word.Text)
		if files[key] == nil {
			files[key] = map[string]any{}
		}
		if counts[word.Text] = word.Docs; word.Docs == 0 {
			files[key][word.Text] = word.Stem
			return nil
		}
		files[key][word.Text] = []any{word.Docs, base64.StdEncoding.EncodeToString(word.Postings)}
		return nil
	})
	if err != nil {
		return nil, err
	}
	keys := append([]string{}, slices.Sorted(maps.Keys(files))...)
	for _, key := range keys {
		if err := writeJSON(w, "search/terms/"+key+".json", files[key]); err != nil {
			return nil, err
		}
	}
	return keys, writeJSON(w, "search/typos.json", counts)
}

// writeSearchPacks writes what is shown of the packs.
func (s *Site) writeSearchPacks(order []int, w Write) error {
	names := []string{}
	for part := range slices.Chunk(order, chunk) {
		entries := make([]searchPack, len(part))
		for n, i := range part {
			it := s.item(i)
			entries[n] = searchPack{
				it.ID.String(), it.Version, short(it.Description, 160),
				s.packs[i].Tags[:min(len(s.packs[i].Tags), 5)], it.Skills, it.Deprecated,
			}
		}
		if err := writeJSON(w, fmt.Sprintf("search/packs/%d.json", len(names)), entries); err != nil {
			return err
		}
		names = append(names, entries[0].Name)
	}
	return writeJSON(w, "search/names.json", names)
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
