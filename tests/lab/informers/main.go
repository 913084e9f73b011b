// Watches a served capture as controllers watch a cluster: an informer of every kind that can be listed, typed informers that
// ask in protobuf, and a hundred watches side by side. What client-go complains of is on standard error.
//
//	KUBECONFIG=FILE informers
//
// It is built with client-go of any release, e.g. in the source package `kubernetes` of Debian 12 (v1.20, with Go 1.19 and
// GO111MODULE=off below $GOPATH/src/k8s.io/kubernetes/cmd). CASEFILE_INFORMERS names the program for `tests/e2e`.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const watches = 100

// How long watches have to stay quiet.
const quiet = 5 * time.Second

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	check(err)
	config.QPS, config.Burst = 1000, 1000
	stop := make(chan struct{})
	everyKind(config, stop)
	typed := *config
	typed.ContentType = "application/vnd.kubernetes.protobuf"
	client := kubernetes.NewForConfigOrDie(&typed)
	inProtobuf(client, stop)
	sideBySide(client)
}

func check(err error) {
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

// One informer of each kind; a kind whose list is refused was not collected, which is printed.
func everyKind(config *rest.Config, stop chan struct{}) {
	groups, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerPreferredResources()
	check(err)
	client := dynamic.NewForConfigOrDie(config)
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	for _, group := range groups {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		check(err)
		for _, kind := range group.APIResources {
			verbs := map[string]bool{}
			for _, verb := range kind.Verbs {
				verbs[verb] = true
			}
			if !verbs["list"] || !verbs["watch"] {
				continue
			}
			resource := version.WithResource(kind.Name)
			if _, err := client.Resource(resource).List(context.TODO(), metav1.ListOptions{Limit: 1}); err != nil {
				fmt.Println("left out:", err)
				continue
			}
			factory.ForResource(resource).Informer()
		}
	}
	factory.Start(stop)
	kinds, objects := 0, 0
	for resource, ok := range factory.WaitForCacheSync(stop) {
		if !ok {
			check(fmt.Errorf("%v is not in sync", resource))
		}
		kinds++
		objects += len(factory.ForResource(resource).Informer().GetStore().List())
	}
	fmt.Printf("%d kinds in sync, %d objects\n", kinds, objects)
}

func inProtobuf(client kubernetes.Interface, stop chan struct{}) {
	factory := informers.NewSharedInformerFactory(client, 0)
	factory.Core().V1().Pods().Informer()
	factory.Core().V1().Nodes().Informer()
	factory.Core().V1().Events().Informer()
	factory.Apps().V1().Deployments().Informer()
	factory.Apps().V1().DaemonSets().Informer()
	factory.Start(stop)
	kinds := 0
	for kind, ok := range factory.WaitForCacheSync(stop) {
		if !ok {
			check(fmt.Errorf("%v is not in sync", kind))
		}
		kinds++
	}
	fmt.Printf("%d typed kinds in sync, asked for in protobuf\n", kinds)
}

// Each watch gives the state and then nothing.
func sideBySide(client kubernetes.Interface) {
	pods, err := client.CoreV1().Pods("").List(context.TODO(), metav1.ListOptions{})
	check(err)
	results := make(chan error, watches)
	for number := 0; number < watches; number++ {
		go func() {
			watch, err := client.CoreV1().Pods("").Watch(context.TODO(), metav1.ListOptions{ResourceVersion: "0"})
			if err != nil {
				results <- err
				return
			}
			for range pods.Items {
				<-watch.ResultChan()
			}
			select {
			case event, open := <-watch.ResultChan():
				results <- fmt.Errorf("a watch said more: %v %v", event.Type, open)
			case <-time.After(quiet):
				results <- nil
			}
		}()
	}
	for number := 0; number < watches; number++ {
		check(<-results)
	}
	fmt.Printf("%d watches gave %d pods each and stayed quiet\n", watches, len(pods.Items))
}
