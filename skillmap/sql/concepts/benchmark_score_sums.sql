-- One row per encoder, benchmark and model: the scored items and clusters among the
-- encoded ones, with mean and variance of the scores and of the clusters' mean scores.

with scored as (
    select
        item_encodings.encoder_id,
        item_encodings.benchmark_id,
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

clusters as (
    select
        encoder_id,
        benchmark_id,
        model_id,
        cluster_id,
        avg(score) as mean_score
    from scored
    group by encoder_id, benchmark_id, model_id, cluster_id
),

by_cluster as (
    select
        encoder_id,
        benchmark_id,
        model_id,
        count(*) as n_clusters,
        avg(mean_score) as cluster_mean_score,
        var_samp(mean_score) as cluster_score_variance
    from clusters
    group by encoder_id, benchmark_id, model_id
),

by_item as (
    select
        encoder_id,
        benchmark_id,
        model_id,
        count(*) as n_items,
        avg(score) as mean_score,
        var_samp(score) as score_variance
    from scored
    group by encoder_id, benchmark_id, model_id
)

select
    by_item.encoder_id,
    by_item.benchmark_id,
    by_item.model_id,
    by_item.n_items,
    by_item.mean_score,
    by_item.score_variance,
    by_cluster.n_clusters,
    by_cluster.cluster_mean_score,
    by_cluster.cluster_score_variance
from by_item
inner join by_cluster using (encoder_id, benchmark_id, model_id)
order by by_item.encoder_id, by_item.benchmark_id, by_item.model_id
