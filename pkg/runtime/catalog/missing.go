package catalog

import (
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/bm25"
)

// MissingWords returns the words of a task that matter in a search and that a skill does not contain, in order.
func MissingWords(task string, c Candidate) ([]string, error) {
	schema := matchSchema()
	own := []bm25.Text{{Field: 2, Text: task}}
	index, err := bm25.New(schema, slices.Values([]bm25.Document{{Texts: c.texts()}, {Texts: own}}))
	if err != nil {
		return nil, err
	}
	query := bm25.Query{Text: task, Sentence: true, Ignore: isRequestWord, Synonym: synonym}
	answer, err := bm25.Find([]*bm25.Index{index}, query, 2)
	if err != nil {
		return nil, err
	}
	var found, missing []string
	reasons, _ := answer.Explain(schema, c.texts())
	for _, r := range reasons {
		found = append(found, r.Query)
	}
	reasons, _ = answer.Explain(schema, own)
	for _, r := range reasons {
		if !slices.Contains(found, r.Query) {
			missing = append(missing, r.Query)
		}
	}
	return missing, nil
}
