package policy

import (
	"fmt"
	"os/user"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// Authoring has the rules for who may create skills in a layer, and publish packs of an owner. The key [Others] stands
// for all that the mapping does not have; without it, everybody may.
type Authoring struct {
	Create  map[string][]Principal // by layer
	Publish map[string][]Principal // by owner
}

// Others is the key for all layers or owners that a mapping does not have.
const Others = "*"

// layers are the layers in which skillpm creates skills.
var layers = []string{"enterprise", "personal", "project"}

// Principal is a user of the operating system, group:NAME for the members of a group, or * for everybody.
type Principal string

// User is a user of the operating system.
type User struct {
	Name   string
	Groups []string
}

// CurrentUser returns the user of this process, without a name if the operating system does not know one: no rule for a
// user or a group then matches.
func CurrentUser() User {
	current, err := user.Current()
	if err != nil {
		return User{}
	}
	u := User{Name: current.Username}
	ids, _ := current.GroupIds() // unknown groups match nothing
	for _, id := range ids {
		if g, err := user.LookupGroupId(id); err == nil {
			u.Groups = append(u.Groups, g.Name)
		}
	}
	return u
}

// is reports whether a principal is the user.
func (p Principal) is(u User) bool {
	group, isGroup := strings.CutPrefix(string(p), "group:")
	return p == Others || !isGroup && u.Name != "" && string(p) == u.Name || isGroup && slices.Contains(u.Groups, group)
}

// MayCreate returns why a user may not create skills in a layer: a [RefusedError], or nil.
func (p *Policy) MayCreate(layer string, u User) error {
	return p.author("create", p.Authoring.Create, layer, u, "may not create skills in the "+layer+" layer")
}

// MayPublishAs returns why a user may not publish packs of an owner: a [RefusedError], or nil.
func (p *Policy) MayPublishAs(owner string, u User) error {
	return p.author("publish", p.Authoring.Publish, owner, u, "may not publish packs of "+owner)
}

func (p *Policy) author(key string, rules map[string][]Principal, what string, u User, why string) error {
	if p.broken != nil {
		return p.Err()
	}
	allowed, ok := rules[what]
	if !ok {
		what = Others
		allowed, ok = rules[Others]
	}
	if !ok || slices.ContainsFunc(allowed, func(a Principal) bool { return a.is(u) }) {
		return nil
	}
	refused := &RefusedError{
		Policy: p.Path, Line: p.root.Get("authoring", key, what).Line(), Rule: "authoring." + key,
		Subject: "user " + u.Name, Why: why,
	}
	if u.Name == "" {
		refused.Subject = "an unknown user"
	}
	if len(allowed) > 0 {
		names := make([]string, len(allowed))
		for i, a := range allowed {
			names[i] = string(a)
		}
		refused.Fix = fmt.Sprintf("ask %s, or the owner of %s", textx.OneOf(names), p.Path)
	}
	return refused
}

// MayCreate applies [Policy.MayCreate] to each policy. For a policy in observe mode it returns a note instead.
func (s Set) MayCreate(layer string, u User) (notes []string, err error) {
	return s.ask(func(p *Policy) error { return p.MayCreate(layer, u) })
}

// MayPublishAs applies [Policy.MayPublishAs] to each policy. For a policy in observe mode it returns a note instead.
func (s Set) MayPublishAs(owner string, u User) (notes []string, err error) {
	return s.ask(func(p *Policy) error { return p.MayPublishAs(owner, u) })
}

func (a *Authoring) read(v yamlx.Value) {
	v.Each(map[string]func(yamlx.Value){
		"create": func(v yamlx.Value) {
			a.Create = principals(v, "use enterprise, personal, project, or * for the others",
				func(s string) bool { return slices.Contains(layers, s) })
		},
		"publish": func(v yamlx.Value) {
			a.Publish = principals(v, "use the owner of packs, such as acme, or * for the others",
				ownerName().MatchString)
		},
	})
}

var (
	ownerName     = lazily(`^` + ownerPart + `$`)
	principalName = lazily(`^(\*|(group:)?[^:\s*]([^:*\x00-\x1f\x7f]*[^:\s*])?)$`)
)

const ownerPart = `[a-z0-9]+(-[a-z0-9]+)*`

// principals reads a mapping to users and groups.
func principals(v yamlx.Value, hint string, isKey func(string) bool) map[string][]Principal {
	all := map[string][]Principal{}
	for key, item := range v.Fields() {
		if key != Others && !isKey(key) {
			item.Key().Errorf(hint, "unknown key %q in %s", key, v.Name)
		}
		all[key] = yamlx.ListOf(item, parsePrincipal)
		if all[key] == nil {
			all[key] = []Principal{}
		}
	}
	return all
}

func parsePrincipal(s string) (Principal, error) {
	if !principalName().MatchString(s) {
		return "", wrong("use the name of a user, group:NAME, or *", "%q is not a user, a group, or *", s)
	}
	return Principal(s), nil
}
