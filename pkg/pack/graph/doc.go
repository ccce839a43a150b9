// Package graph is the dependency graph of a lockfile: which pack requires which, with what range, and which chains
// lead from the manifest to a pack. It does no I/O and may change at any time.
//
// [Graph.Tree] and [Graph.Inverted] draw it as a text tree, and others as DOT for Graphviz, as a Mermaid flowchart, as
// a self-contained SVG, and as JSON. The rules that the package keeps:
//
//   - The same packs in another order give the same bytes.
//   - Names come from manifests and packs that others wrote. No name can end a label, add a node, or reach a terminal
//     as a control sequence.
//   - Cycles, packs that nothing requires, and requirements that nothing satisfies are drawn, and are never an error.
//
// Start reading at [New]. layout.go computes the columns of the SVG, and svg.go writes it.
package graph
