// Package kube reads Kubernetes and Kueue objects as `kubectl get ... -o yaml|json` prints
// them: documents, lists, and files of several documents.
//
// It decodes with small structs of its own what gangplan models, and lists once, by kind and
// field, what a cluster has and gangplan does not model. Objects of kinds that say nothing
// about scheduling are counted and left alone.
package kube
