package console

import (
	"bytes"
	"testing"
)

func TestWriteDocument(t *testing.T) {
	type inner struct {
		Names []string `json:"names"`
	}
	type document struct {
		inner
		Lists   []inner          `json:"lists"`
		Left    []string         `json:"left,omitempty"`
		Zero    []string         `json:"zero,omitzero"`
		Pointer *inner           `json:"pointer"`
		Map     map[string]inner `json:"map"`
		Data    []byte           `json:"data"`
	}
	for _, c := range []struct {
		value any
		want  string
	}{
		{struct{}{}, `{"schemaVersion":1}`},
		{&inner{Names: []string{"<a>"}}, `{"schemaVersion":1,"names":["<a>"]}`},
		{
			document{Lists: []inner{{}}, Pointer: &inner{}, Map: map[string]inner{"a": {}}},
			`{"schemaVersion":1,"names":[],"lists":[{"names":[]}],"pointer":{"names":[]},` +
				`"map":{"a":{"names":[]}},"data":null}`,
		},
		{
			document{Zero: []string{}},
			`{"schemaVersion":1,"names":[],"lists":[],"zero":[],"pointer":null,"map":{},"data":null}`,
		},
		{inner{Names: []string{"\u202e"}}, `{"schemaVersion":1,"names":["` + "\\u202e" + `"]}`},
	} {
		var b bytes.Buffer
		if err := WriteDocumentLine(&b, c.value); err != nil || b.String() != c.want+"\n" {
			t.Errorf("got  %s%v\nwant %s", b.String(), err, c.want)
		}
	}
	var b bytes.Buffer
	const want = "{\n  \"schemaVersion\": 1,\n  \"names\": []\n}\n"
	if err := WriteDocument(&b, inner{}); err != nil || b.String() != want {
		t.Errorf("got %s%v", b.String(), err)
	}
	for _, v := range []any{[]string{}, "text", nil} {
		if err := WriteDocument(&b, v); err == nil {
			t.Errorf("%v was accepted", v)
		}
	}
}
