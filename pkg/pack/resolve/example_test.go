package resolve_test

import (
	"context"
	"fmt"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/resolve"
)

// offer is an in-memory registry: the requirements of each version of each pack.
type offer map[pack.ID]map[string][]resolve.Requirement

func (o offer) Versions(_ context.Context, pk pack.ID, _ string) (list []resolve.Version, err error) {
	for v := range o[pk] {
		list = append(list, resolve.Version{Version: v})
	}
	return list, nil
}

func (o offer) Requirements(_ context.Context, pk pack.ID, _, version string) ([]resolve.Requirement, error) {
	return o[pk][version], nil
}

// ExampleResolve shows an unsolvable case: the error shows which pack requires what, and the hint which change would
// help.
func ExampleResolve() {
	deploy, ops, base := pack.ID{Owner: "acme", Name: "deploy"}, pack.ID{Owner: "globex", Name: "ops"}, pack.ID{Owner: "acme", Name: "base"}
	registry := offer{
		deploy: {"1.3.0": {{Pack: base, Constraint: "^1.0"}}, "1.4.0": {{Pack: base, Constraint: "^2.1"}}},
		ops:    {"1.3.0": {{Pack: base, Constraint: "^1.0"}}},
		base:   {"1.0.0": nil, "2.1.0": nil},
	}
	root := []resolve.Requirement{{Pack: deploy, Constraint: "^1"}, {Pack: ops, Constraint: "~1.3"}}
	chosen, err := resolve.Resolve(context.Background(), root, registry, resolve.Options{})
	fmt.Println(chosen[deploy].Version, chosen[ops].Version, chosen[base].Version, err)

	root[0].Constraint = "^1.4"
	_, err = resolve.Resolve(context.Background(), root, registry, resolve.Options{})
	fmt.Println(err)
	fmt.Println(diag.HintOf(err))
	// Output:
	// 1.3.0 1.3.0 1.0.0 <nil>
	// no version of acme/base meets every requirement
	//   skillpm.yaml requires acme/deploy ^1.4, acme/deploy 1.4.0 requires acme/base ^2.1 (matches 2.1.0)
	//   skillpm.yaml requires globex/ops ~1.3, globex/ops 1.3.0 requires acme/base ^1.0 (matches 1.0.0)
	// select matching versions with: skillpm install acme/deploy@1.3.0
}
