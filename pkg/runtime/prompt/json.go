package prompt

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// object is a JSON object with ordered keys.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	return jsonx.MarshalObject(func(yield func(string, any) bool) {
		for _, m := range o {
			if !yield(m.key, m.value) {
				return
			}
		}
	})
}

// JSON returns a result as the agent's structured data, on one line and with keys in the agent's order. It returns an
// error if the profile has none for this kind of result.
func JSON(p *profile.Profile, r Result) ([]byte, error) {
	f := form(p, r.Kind)
	if f.JSON.IsZero() {
		return nil, diag.Errorf(diag.Invalid, "profile %s does not define JSON results", p.ID).
			WithHint("set activation.%s.json in the file of the profile", r.Kind)
	}
	v, err := r.tree(p, f, &f.JSON)
	if err != nil {
		return nil, err
	}
	if o, ok := v.(object); ok {
		v = append(o, r.noteMembers()...)
	}
	return jsonx.Marshal(v)
}

// noteMembers are what every profile's model is told about an activation, for clients that show it only the JSON.
func (r *Result) noteMembers() (all object) {
	if r.Repeated {
		all = append(all, member{"repeated", true})
	}
	if r.Restriction != "" {
		all = append(all, member{"restriction", line(r.Restriction)})
	}
	if r.Kind == Spawned && r.Ask != "" {
		all = append(all, member{"hint", "for the result, " + line(r.Ask)})
	}
	return all
}

// tree expands a tree of a profile.
func (r *Result) tree(p *profile.Profile, f *profile.Form, n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.MappingNode:
		out := object{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			v, err := r.tree(p, f, n.Content[i+1])
			if err != nil {
				return nil, err
			}
			key, optional := strings.CutSuffix(n.Content[i].Value, "?")
			if optional && isEmpty(v) {
				continue
			}
			out = append(out, member{key, v})
		}
		return out, nil
	case yaml.SequenceNode:
		out := []any{}
		for _, c := range n.Content {
			v, err := r.tree(p, f, c)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	}
	if n.ShortTag() == "!!str" {
		return r.leaf(p, f, n.Value)
	}
	var v any
	err := n.Decode(&v)
	return v, err
}

// isEmpty reports whether a value has no text and no elements.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case []string:
		return len(v) == 0
	case []File:
		return len(v) == 0
	default:
		return v == nil
	}
}

// leaf expands a text of a tree. A text that is only a placeholder becomes its value, with its type.
func (r *Result) leaf(p *profile.Profile, f *profile.Form, text string) (any, error) {
	t, err := template(text)
	if err != nil {
		return nil, err
	}
	if value, ok := t.Whole(); ok && value.Filter == "" {
		return r.value(p, f, value.Name), nil
	}
	return expand(t, "", func(name string) (string, bool) {
		text, _ := r.values(p, f)(name)
		return text, true
	}), nil
}

// value returns a value of a result with its type.
func (r *Result) value(p *profile.Profile, f *profile.Form, name string) any {
	switch name {
	case "name":
		return r.Name
	case "directory":
		return r.Dir
	case "description":
		return r.Description
	case "path":
		return r.Path
	case "paths":
		return r.paths()
	case "files":
		return append([]File{}, r.Files...)
	case "toolsets":
		return append([]string{}, r.Toolsets...)
	case "available":
		return append([]string{}, r.Available...)
	case "allowed_tools":
		return append([]string{}, r.AllowedTools...)
	case "duration_ms":
		return r.Duration.Milliseconds()
	case "seconds":
		return json.Number(r.seconds())
	case "error":
		return strings.ToValidUTF8(r.message(), "�")
	default:
		text, _ := r.values(p, f)(name)
		return text
	}
}
