-- One row per encoder, benchmark, model, pooling and latent that is active on a scored
-- item: what the scored items add up to. With w the saliency and s the score: S1 = sum
-- w, S2 = sum w², Y1 = sum ws, Y2 = sum w²s, Y3 = sum w²s²; with W and V the sums of w
-- and ws within a cluster, the same over clusters, and Y1 by the clusters' mean scores.

with scored as (
    select
        item_encodings.encoder_id,
        item_encodings.benchmark_id,
        item_encodings.item_id,
        item_scores.model_id,
        item_scores.score,
        coalesce(item_groups.group_id, item_encodings.item_id) as cluster_id
    from core.item_encodings as item_encodings
    inner join mart.item_scores as item_scores using (benchmark_id, item_id)
    left join core.item_groups as item_groups
        on
            item_encodings.item_id = item_groups.item_id
            and item_groups.kind = 'near'
    where
        item_encodings.status = 'encoded'
        and item_scores.score is not null
        and not coalesce(item_scores.is_drifted, false)
),

cluster_means as (
    select
        encoder_id,
        benchmark_id,
        model_id,
        cluster_id,
        avg(score) as mean_score
    from scored
    group by encoder_id, benchmark_id, model_id, cluster_id
),

weighted as (
    select
        encoder_id,
        benchmark_id,
        item_id,
        latent_index,
        'mean' as pooling,
        mean_activation::double as w
    from core.item_concepts
    union all
    select
        encoder_id,
        benchmark_id,
        item_id,
        latent_index,
        'max' as pooling,
        max_activation::double as w
    from core.item_concepts
),

by_cluster as (
    select
        scored.encoder_id,
        scored.benchmark_id,
        scored.model_id,
        weighted.pooling,
        weighted.latent_index,
        scored.cluster_id,
        count(*) as n_items,
        sum(weighted.w) as w,
        sum(weighted.w ** 2) as w2,
        sum(weighted.w * scored.score) as v,
        sum(weighted.w ** 2 * scored.score) as w2s,
        sum(weighted.w ** 2 * scored.score ** 2) as w2s2
    from weighted
    inner join scored using (encoder_id, benchmark_id, item_id)
    group by all
)

select
    by_cluster.encoder_id,
    by_cluster.benchmark_id,
    by_cluster.model_id,
    by_cluster.pooling,
    by_cluster.latent_index,
    sum(by_cluster.n_items)::bigint as n_active_items,
    sum(by_cluster.w) as s1,
    sum(by_cluster.w2) as s2,
    sum(by_cluster.v) as y1,
    sum(by_cluster.w2s) as y2,
    sum(by_cluster.w2s2) as y3,
    sum(by_cluster.w ** 2) as cluster_s2,
    sum(by_cluster.w * cluster_means.mean_score) as cluster_y1,
    sum(by_cluster.w * by_cluster.v) as cluster_y2,
    sum(by_cluster.v ** 2) as cluster_y3
from by_cluster
inner join cluster_means using (encoder_id, benchmark_id, model_id, cluster_id)
group by
    by_cluster.encoder_id,
    by_cluster.benchmark_id,
    by_cluster.model_id,
    by_cluster.pooling,
    by_cluster.latent_index
order by
    by_cluster.encoder_id,
    by_cluster.benchmark_id,
    by_cluster.model_id,
    by_cluster.pooling,
    by_cluster.latent_index
